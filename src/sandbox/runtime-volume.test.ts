import { afterEach, expect, it, vi } from 'vitest';
import { createFakeEngine, createFakeEngineMachine } from '../../test/support/fake-engine.ts';
import { runtimeVolume } from './runtime-volume.ts';

const LABELS = { 'mahabharatha.role': 'runtime' };
const image = { tag: 'image', id: `sha256:${'a'.repeat(64)}` };

afterEach(() => vi.useRealTimers());

it('what servers of other versions have filled goes after a week, when a new one is filled and no container has it', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const machine = createFakeEngineMachine(({ exit }) => exit(0), ['image']);
  const real = createFakeEngine(machine);
  const [own, idle, used] = ['a', 'b', 'c'].map((id) => `mahabharatha-runtime-${id.repeat(16)}-0`);
  const engine = {
    ...real,
    removeVolume: async (name: string) => {
      if (name === used) throw new Error('it is in use');
      await real.removeVolume(name);
    },
  };
  for (const name of [idle, used]) for (const end of ['', '-filled']) await real.createVolume(`${name}${end}`, LABELS);
  const day = 24 * 60 * 60_000;
  vi.setSystemTime(Date.now() + 6 * day);
  await runtimeVolume(engine, { ...image, id: `sha256:${'d'.repeat(64)}` });
  expect(machine.volumes.size).toBe(6);
  await real.createVolume(`${own}`, LABELS);
  await real.createVolume(`${own}-filled`, LABELS);
  vi.setSystemTime(Date.now() + 2 * day);
  expect(await runtimeVolume(engine, image)).toBe(own);
  expect(machine.volumes.has(idle ?? '')).toBe(true);
  await runtimeVolume(engine, { ...image, id: `sha256:${'e'.repeat(64)}` });
  const left = [...machine.volumes.keys()].map((name) => name.replace(/^mahabharatha-runtime-(.)\w+-\w+/, '$1'));
  expect(left).toEqual(['c', 'c-filled', 'd', 'd-filled', 'a', 'a-filled', 'e', 'e-filled']);
});

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
