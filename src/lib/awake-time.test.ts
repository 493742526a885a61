import { expect, it } from 'vitest';
import { createAwakeTime, PULSE_MS } from './awake-time.ts';

function life(): {
  time: ReturnType<typeof createAwakeTime>;
  runs: (ms: number) => void;
  standsStill: (ms: number) => void;
} {
  let now = 1_000_000;
  const time = createAwakeTime(() => now);
  return {
    time,
    standsStill: (ms) => (now += ms),
    runs: (ms) => {
      for (let left = ms; left > 0; left -= PULSE_MS) {
        now += Math.min(left, PULSE_MS);
        time.pulse();
      }
    },
  };
}

it('the time in which the process ran counts', () => {
  const { time, runs } = life();
  const before = time.now();
  runs(90_000);
  expect(time.now() - before).toBe(90_000);
  expect(time.lostMs()).toBe(0);
});

it('an hour of standstill counts as one pulse, whichever call notices it first', () => {
  for (const notice of ['the pulse', 'a question']) {
    const { time, runs, standsStill } = life();
    const before = time.now();
    runs(5000);
    standsStill(3_600_000);
    if (notice === 'the pulse') runs(PULSE_MS);
    const [least, most] = [5000, 5000 + 3 * PULSE_MS];
    expect(time.now() - before, notice).toBeGreaterThanOrEqual(least);
    expect(time.now() - before, notice).toBeLessThanOrEqual(most);
  }
});

it('the end of the last standstill is known', () => {
  const { time, runs, standsStill } = life();
  expect(time.wokeAt()).toBeLessThan(time.now() - 1e9);
  standsStill(60_000);
  const woken = time.now();
  runs(1000);
  expect(time.wokeAt()).toBe(woken);
});

it('delays of a busy machine count as time in which the process ran', () => {
  const { time, standsStill } = life();
  const before = time.now();
  for (let turn = 0; turn < 10; turn += 1) {
    standsStill(900);
    time.now();
  }
  expect(time.now() - before).toBe(9000);
});
