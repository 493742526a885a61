import { afterEach, expect, it, vi } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import { runtimeVolume } from './runtime-volume.ts';

const LABELS = { 'mahabharatha.role': 'runtime' };
const image = { tag: 'image', id: `sha256:${'a'.repeat(64)}` };

afterEach(() => vi.useRealTimers());

it('what a killed server has left goes when nothing can be filling it any more, and what is filled stays', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const machine = createFakeEngineMachine(({ exit }) => exit(0), ['image']);
  const engine = createFakeEngine(machine);
  const left = 'mahabharatha-runtime-aaaaaaaaaaaaaaaa-left';
  await engine.createVolume(left, LABELS);
  await engine.createVolume('mahabharatha-runtime-bbbbbbbbbbbbbbbb-other', LABELS);
  await engine.createVolume('mahabharatha-runtime-bbbbbbbbbbbbbbbb-other-filled', LABELS);
  const filled = await runtimeVolume(engine, image);
  expect([...machine.volumes.keys()]).toContain(left);
  await engine.removeVolume(`${filled}-filled`);
  vi.setSystemTime(Date.now() + 11 * 60_000);
  const again = await runtimeVolume(engine, image);
  const other = ['mahabharatha-runtime-bbbbbbbbbbbbbbbb-other', 'mahabharatha-runtime-bbbbbbbbbbbbbbbb-other-filled'];
  expect([...machine.volumes.keys()]).toEqual([...other, again, `${again}-filled`]);
  expect(again).not.toBe(filled);
  expect(await runtimeVolume(engine, image)).toBe(again);
});
