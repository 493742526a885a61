import { expect, it } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../../test/support/fake-engine.ts';
import { packageFolder } from '../../../test/support/package-folder.ts';
import type { Engine } from '../../engines/index.ts';
import { makeImages } from '../../project/index.ts';
import type { BuildListener } from '../../project/index.ts';
import { plainView } from '../render/build-view.ts';

const BASE = 'base:1';
const COMMON = {
  version: '1.2.3',
  env: { PATH: '/nowhere' },
  project: null,
  base: BASE,
  agents: ['claude' as const],
  platform: null,
  noCache: false,
};

function world(): {
  engine: Engine;
  view: BuildListener;
  said: () => string;
} {
  let said = '';
  const say = (text: unknown): void => void (said += String(text));
  const view = plainView({ out: say, err: say, terminal: false, color: false });
  const engine = createFakeEngine(createFakeEngineMachine(() => undefined, [BASE]));
  return { engine, view, said: () => said };
}

it('a build that is interrupted in its last step says so, and which image is new', async () => {
  const controller = new AbortController();
  const { engine, view, said } = world();
  const tagImage: typeof engine.tagImage = async (id, tag) => {
    controller.abort(130);
    return engine.tagImage(id, tag);
  };
  const request = { ...COMMON, packageRoot: packageFolder(), signal: controller.signal };
  await expect(makeImages({ ...engine, tagImage }, request, view)).rejects.toBe(130);
  expect(said()).toMatch(/built in [^]*\nThe build was called off; only mahabharatha-worker:\S+ is new, .*\n$/);
});

it('a build says how older images are removed when it has built one, and only then', async () => {
  const { engine, view, said } = world();
  const request = { ...COMMON, packageRoot: packageFolder() };
  await makeImages(engine, request, view);
  expect(said()).toMatch(/built in .*\nOlder images stay\. .*: docker image prune --all --filter label=\S+\n$/);
  const before = said().length;
  await makeImages(engine, request, view);
  expect(said().slice(before)).toMatch(/^worker image .* up to date\n$/);
});
