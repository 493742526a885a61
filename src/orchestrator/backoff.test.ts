import { describe, expect, it } from 'vitest';
import type { TaskState } from '../state/index.ts';
import type { Task } from '../tasks/index.ts';
import { createWaits } from './backoff.ts';

const WALL = Date.parse('2026-01-01T12:00:00Z');
const HOUR = 3_600_000;

interface Scene {
  /** How long A still waits; undefined when it does not. */
  left(): number | undefined;
  /** Both clocks go on. */
  pass(ms: number): void;
  setWallClock(byMs: number): void;
  restart(): void;
}

/** A task that was told to wait 2 s just now, after its first rate limit. */
function scene(task: Partial<TaskState> = {}): Scene {
  let [wall, monotonic] = [WALL, 1000];
  const notBefore = new Date(WALL + 2000).toISOString();
  const tasks = { A: { status: 'pending', notBefore, backoffs: 1, ...task } as TaskState };
  const begin = (): ReturnType<typeof createWaits> =>
    createWaits({ now: () => wall, monotonic: () => monotonic }, { backoffMs: 2000 }, { tasks: [{ id: 'A' } as Task] });
  let waits = begin();
  return {
    left: () => waits(tasks).get('A'),
    pass: (ms) => {
      wall += ms;
      monotonic += ms;
    },
    setWallClock: (byMs) => (wall += byMs),
    restart: () => (waits = begin()),
  };
}

describe('a wait after a rate limit', () => {
  it('lasts as long as its backoff', () => {
    const { left, pass } = scene();
    expect(left()).toBe(2000);
    pass(1500);
    expect(left()).toBe(500);
    pass(500);
    expect(left()).toBeUndefined();
  });

  it.each([-HOUR, -1000])('is not prolonged by a wall clock that is set back by %i ms', (by) => {
    const { left, pass, setWallClock } = scene();
    left();
    setWallClock(by);
    expect(left()).toBe(2000);
    pass(2000);
    expect(left()).toBeUndefined();
  });

  it('lasts no longer than its backoff after a resume under a wall clock that was set back', () => {
    const { left, pass, setWallClock, restart } = scene();
    setWallClock(-HOUR);
    restart();
    expect(left()).toBe(2000);
    pass(2000);
    expect(left()).toBeUndefined();
  });

  it('is limited by its own backoff, not by the first one', () => {
    const { left, setWallClock } = scene({ backoffs: 3 });
    setWallClock(-HOUR);
    expect(left()).toBe(8000);
  });

  it('is over when the machine has slept longer: only the wall clock knows', () => {
    const { left, setWallClock } = scene();
    left();
    setWallClock(HOUR);
    expect(left()).toBeUndefined();
    setWallClock(-HOUR);
    expect(left()).toBeUndefined();
  });

  it('concerns only tasks that are to be done', () => {
    expect(scene({ status: 'failed' }).left()).toBeUndefined();
    expect(scene({ notBefore: null }).left()).toBeUndefined();
  });
});
