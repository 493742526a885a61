import { expect, it } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../../test/support/fake-engine.ts';
import { packageFolder } from '../../../test/support/package-folder.ts';
import { buildForRun } from './build-image.ts';
import type { CliContext } from '../command.ts';

const BASE = 'base:1';
const COMMON = { version: '1.2.3', env: { PATH: '/nowhere' }, project: null, base: BASE, platform: null };

it('that is called off while it removes what it has superseded ends as called off, and says what is done', async () => {
  const machine = createFakeEngineMachine(() => undefined, [BASE]);
  const engine = createFakeEngine(machine);
  const controller = new AbortController();
  const listImages: typeof engine.listImages = async (labels) => {
    controller.abort(130);
    return engine.listImages(labels);
  };
  let said = '';
  const err = (text: string): void => void (said += text);
  const context = { err, color: false, interrupted: controller.signal } as unknown as CliContext;
  const request = { ...COMMON, packageRoot: packageFolder() };
  const building = buildForRun({ ...engine, listImages }, request, context);
  await expect(building).rejects.toBe(130);
  expect(said).toMatch(/built in [^]*\nThe images are built; removing what they supersede was called off\.\n$/);
  expect(said).not.toContain('no other image');
});
