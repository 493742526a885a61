import { describe, expect, it } from 'vitest';
import type { BuiltImage } from '../../images/index.ts';
import type { Printable } from '../../lib/index.ts';
import { buildView } from './build-view.ts';
import type { BuildListener } from '../../project/index.ts';

const WORKER: BuiltImage = {
  kind: 'worker',
  title: 'worker image',
  tag: 'mahabharatha-worker:abc',
  id: 'sha256:1',
  bytes: 556_000_000,
  ms: 1234,
  cached: false,
};
interface How {
  readonly json?: boolean;
  readonly terminal?: boolean;
  readonly columns?: number;
}

/** What is printed, on both streams. */
function said(tell: (view: BuildListener) => void, how: How = {}): [string, string] {
  const said: [string, string] = ['', ''];
  const out = (text: Printable): void => void (said[0] += text.toString());
  const err = (text: Printable): void => void (said[1] += text.toString());
  tell(buildView({ out, err, terminal: how.terminal ?? false, color: false }, how.json ?? false, how));
  return said;
}

describe('the end of a build', () => {
  it('names the command that removes older images to people, and does not run it', () => {
    for (const terminal of [false, true])
      expect(said((view) => view.olderStay(), { terminal })[0]).toContain(
        'the new ones too: docker image prune --all --filter label=mahabharatha.content\n',
      );
    expect(said((view) => view.olderStay(), { json: true })).toEqual(['', '']);
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
});

it.each([
  [120, 117],
  [0, 77],
  [undefined, 77],
])('a line of a build is cut for a terminal that says it has %s columns', (columns, shown) => {
  const how = { terminal: true, ...(columns === undefined ? {} : { columns }) };
  const [out] = said((view) => view.line('x'.repeat(500)), how);
  expect(out.match(/x/g)).toHaveLength(shown);
});
