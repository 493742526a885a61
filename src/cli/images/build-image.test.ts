import { expect, it } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../../test/support/fake-engine.ts';
import { packageFolder } from '../../../test/support/package-folder.ts';
import type { Engine } from '../../engines/index.ts';
import { buildForRun } from './build-image.ts';
import type { CliContext } from '../command.ts';

const BASE = 'base:1';
const COMMON = { version: '1.2.3', env: { PATH: '/nowhere' }, project: null, base: BASE, platform: null };

function world(controller = new AbortController()): {
  engine: Engine;
  context: CliContext;
  said: () => string;
} {
  let said = '';
  const err = (text: string): void => void (said += text);
  const context = { err, color: false, interrupted: controller.signal } as unknown as CliContext;
  const engine = createFakeEngine(createFakeEngineMachine(() => undefined, [BASE]));
  return { engine, context, said: () => said };
}

it('that is called off with its last step ends as called off, and says what is new', async () => {
  const controller = new AbortController();
  const { engine, context, said } = world(controller);
  const tagImage: typeof engine.tagImage = async (id, tag) => {
    controller.abort(130);
    return engine.tagImage(id, tag);
  };
  const request = { ...COMMON, packageRoot: packageFolder() };
  await expect(buildForRun({ ...engine, tagImage }, request, context)).rejects.toBe(130);
  expect(said()).toMatch(/built in [^]*\nThe build was called off; only mahabharatha-worker:\S+ is new, .*\n$/);
});

it('says how older images are removed when it has built one, and only then', async () => {
  const { engine, context, said } = world();
  const request = { ...COMMON, packageRoot: packageFolder() };
  await buildForRun(engine, request, context);
  expect(said()).toMatch(/built in .*\nOlder images stay\. .*: docker image prune --all --filter label=\S+\n$/);
  const before = said().length;
  await buildForRun(engine, request, context);
  expect(said().slice(before)).toMatch(/^worker image .* up to date\n$/);
});
