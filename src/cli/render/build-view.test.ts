import { describe, expect, it } from 'vitest';
import type { BuiltImage, Removed } from '../../images/index.ts';
import type { Printable } from '../../lib/index.ts';
import { buildView } from './build-view.ts';
import type { BuildView } from './build-view.ts';

const WORKER: BuiltImage = {
  kind: 'worker',
  tag: 'mahabharatha-worker:abc',
  id: 'sha256:1',
  bytes: 556_000_000,
  ms: 1234,
  cached: false,
  replaced: null,
};
const superseded = (name: string, what: Removed['what'] = 'image'): Removed => {
  return { kind: 'worker', name, id: name, bytes: 2e8, what };
};

/** What is said of it, on both streams. */
function said(tell: (view: BuildView) => void, how: { json?: boolean; terminal?: boolean } = {}): [string, string] {
  const said: [string, string] = ['', ''];
  const out = (text: Printable): void => void (said[0] += text.toString());
  const err = (text: Printable): void => void (said[1] += text.toString());
  tell(buildView({ out, err, terminal: how.terminal ?? false, color: false }, how.json ?? false));
  return said;
}

describe('the end of a build', () => {
  it('says in one line what was removed, and how much', () => {
    const three = ['a:1', 'b:2', `sha256:${'c'.repeat(64)}`].map((name) => superseded(name));
    expect(said((view) => view.removed(three))[0]).toBe(
      'removed  3 superseded images  572.2 MiB with what others share  a:1, b:2, cccccccccccc\n',
    );
    const five = [...three, superseded('d:4'), superseded('e:5')];
    expect(said((view) => view.removed(five), { terminal: true })[0]).toMatch(/ 5 superseded .* and 2 more\n$/);
    expect(said((view) => view.removed([superseded('a:1')]))[0]).toMatch(/^removed {2}1 superseded image {2}190.7 MiB/);
  });

  it('tells an image that has only lost our name apart from one that is gone', () => {
    const named = superseded('b:2', 'name');
    const line = 'unnamed  1 superseded image  still there for another name or image  b:2\n';
    expect(said((view) => view.removed([named]))[0]).toBe(line);
    expect(said((view) => view.removed([superseded('a:1'), named]))[0]).toBe(
      `removed  1 superseded image  190.7 MiB with what others share  a:1\n${line}`,
    );
    const [out] = said((view) => view.removed([named]), { json: true });
    const images = [{ kind: 'worker', name: 'b:2', id: 'b:2' }];
    expect(JSON.parse(out)).toEqual({ type: 'image-names-removed', images });
  });

  it('says nothing when nothing was removed', () => {
    expect(said((view) => view.removed([]))).toEqual(['', '']);
    expect(said((view) => view.removed([]), { json: true })).toEqual(['', '']);
  });

  it('says so in JSON too', () => {
    const [out] = said((view) => view.removed([superseded('a:1')]), { json: true });
    expect(JSON.parse(out)).toEqual({
      type: 'images-removed',
      images: [{ kind: 'worker', name: 'a:1', id: 'a:1', bytes: 2e8 }],
    });
  });

  it('says that the build was called off, and what has changed', () => {
    const nothing = 'The build was called off; no image has changed.\n';
    expect(said((view) => view.calledOff([]))).toEqual(['', nothing]);
    expect(said((view) => view.calledOff([{ ...WORKER, cached: true }]), { terminal: true })[1]).toBe(nothing);
    expect(said((view) => view.calledOff([WORKER]))[1]).toBe(
      'The build was called off; only mahabharatha-worker:abc is new, no other image has changed.\n',
    );
    const [out] = said((view) => view.calledOff([WORKER]), { json: true });
    expect(JSON.parse(out)).toEqual({ type: 'build-called-off', built: [WORKER.tag] });
  });

  it('says that only the removal was called off', () => {
    for (const terminal of [false, true])
      expect(said((view) => view.removalCalledOff(), { terminal })[1]).toMatch(
        /^The images are built; .*called off\.\n$/,
      );
    const [out] = said((view) => view.removalCalledOff(), { json: true });
    expect(JSON.parse(out)).toEqual({ type: 'removal-called-off' });
  });
});
