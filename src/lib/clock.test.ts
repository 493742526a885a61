import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { sleep, systemClock } from './clock.ts';
import { randomId, timeId } from './ids.ts';

it('sleep takes at least the given time', async () => {
  const before = systemClock.monotonic();
  await sleep(30);
  expect(systemClock.monotonic() - before).toBeGreaterThan(25);
});

it('sleep ends at once, without an error, when the signal fires', async () => {
  const controller = new AbortController();
  const sleeping = sleep(1_000_000, controller.signal);
  controller.abort();
  await sleeping;
  await sleep(1_000_000, controller.signal);
});

it('sleep leaves no listener on its signal', async () => {
  const { signal } = new AbortController();
  for (let n = 0; n < 20; n++) await sleep(0, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

it('ids sort by time and never repeat', () => {
  const times = [0, 1_000, 60_000, Date.UTC(2026, 10, 18, 8, 1, 22)];
  const ids = times.map(timeId);
  expect(ids.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(ids);
  expect(ids.at(-1)).toMatch(/^20261118t080122-[0-9a-f]{6}$/);
  expect(new Set(Array.from({ length: 1000 }, randomId)).size).toBe(1000);
});

it('sleep does not count a standstill of the process', async () => {
  const waiting = startNode(`
    import { sleep, systemClock } from './lib/index.js';
    const [began, awake] = [performance.now(), systemClock.monotonic()];
    console.log('waiting');
    await sleep(1500);
    console.log(JSON.stringify({ passed: performance.now() - began, awake: systemClock.monotonic() - awake }));
  `);
  await waiting.printed('waiting');
  process.kill(waiting.pid, 'SIGSTOP');
  await sleep(3000);
  process.kill(waiting.pid, 'SIGCONT');
  const { output } = await waiting.end;
  const { passed, awake } = JSON.parse(output.split('\n')[1] ?? '') as { passed: number; awake: number };
  expect(passed).toBeGreaterThan(3900);
  expect(passed - awake).toBeGreaterThan(2000);
});
