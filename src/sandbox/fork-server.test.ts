import { afterEach, expect, it, vi } from 'vitest';
import { forkFor, startForkServer } from './fork-server.ts';
import type { Sandbox } from './sandbox.ts';

const python = { image: 'x', extension: '.py', command: ['python', '-I', '{filepath}'] };
const place = { file: '/tmp/exec_1.py' };
afterEach(() => void vi.useRealTimers());

/** A sandbox whose agent says so often that the fork server is not there. */
function failing(times: number) {
  let asked = 0;
  const sandbox = {
    env: {},
    users: { nextProgram: () => 1 },
    files: async () => ({}),
    prepare: async () => (asked += 1) > times,
    run: ({ fork }: Parameters<Sandbox['run']>[0], sink: Parameters<Sandbox['run']>[1]) => {
      void sink('stdout', Buffer.from(`__main__ ${fork?.file} ['${fork?.file}']\n`));
      return { end: Promise.resolve({ code: 0 }) };
    },
  } as unknown as Sandbox;
  return { sandbox, asked: () => asked };
}

it.each([
  [0, true, 1],
  [1, true, 2],
  [2, true, 3],
  [9, false, 3],
])('a fork server that fails %s times: it is there in the end: %s, after %s tries', async (times, isThere, tries) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { sandbox, asked } = failing(times);
  await startForkServer(sandbox, python);
  expect(asked()).toBe(1);
  for (let round = 0; round < 5; round += 1) {
    // Not sooner than after a while.
    await startForkServer(sandbox, python);
    expect(asked()).toBe(Math.min(tries, round + 1));
    vi.advanceTimersByTime(5001);
    await startForkServer(sandbox, python);
  }
  expect(asked()).toBe(tries);
  expect(forkFor(sandbox, python, place, []) !== null).toBe(isThere);
});
