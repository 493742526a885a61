import { describe, expect, it } from 'vitest';
import { commit, createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';
import type { TaskResult } from '../protocol/index.ts';
import type { WorkerView } from './plan.ts';

const CLAIM: TaskResult = {
  kind: 'task',
  attempt: 'A.1',
  outcome: 'verified',
  detail: 'done',
  feedback: '',
  commit: commit('A'),
  usage: null,
  resetAt: null,
};

/** Worker 0 is at A.1, worker 1 at B.1. */
function atWork(): World {
  const world = createWorld([{ id: 'A' }, { id: 'B' }]);
  world.settle();
  return world;
}

describe('the result that a worker reports', () => {
  it.each<[string, Partial<WorkerView>]>([
    ['lives', {}],
    ['has died', { alive: false, exit: 'killed by SIGKILL' }],
    ['is silent', { silentMs: 1_000_000 }],
    ['is overdue', { unreadable: 'A goes on for 9 s' }],
  ])('is taken first when the worker %s, and has no other effect until it is examined', (_how, view) => {
    const world = atWork();
    world.says(0, { ...view, claim: CLAIM });
    expect(world.turn()).toBe('take-result of A.1 from 0: its worker says "verified"');
    expect(world.turn()).toBe('');
    world.reports(0, {});
    expect(world.turn()).toContain('record attempt-accepted A 1 0');
  });

  it.each([
    ["another worker's attempt", 'B.1'],
    ['an attempt of its own that is over, or that never was', 'A.2'],
  ])('is not taken when it is about %s', (_what, attempt) => {
    const world = atWork();
    world.says(0, { claim: { ...CLAIM, attempt } });
    expect(world.turn()).toBe('');
  });

  it('is taken also when the run is to end', () => {
    const world = atWork();
    world.says(0, { claim: CLAIM });
    world.stop(130, 'Ctrl-C');
    expect(world.turn()).toBe('take-result of A.1 from 0: its worker says "verified"');
    expect(world.turn()).toBe('finish stopped 130: Ctrl-C');
  });

  it('is not taken when the status also reports the failure of a set-up that was over', () => {
    const world = atWork();
    world.says(0, { claim: CLAIM, setupFailure: 'forged', pastSetup: true });
    expect(world.turn()).toContain('record attempt-failed A 1 0 worker-error it says that its set-up failed');
  });
});
