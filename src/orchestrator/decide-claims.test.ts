import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World, WorldTask } from '../../test/support/decision-world.ts';

const USAGE = { inputTokens: 1e9, outputTokens: 1e9, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 1e9 };

/** Worker 0 is at its first attempt at A. */
function atWork(task: Partial<WorldTask> = {}, agent = 'claude', policy: { setup?: boolean } = {}): World {
  const world = createWorld([{ id: 'A', ...task }], { workers: 1, agent }, policy);
  world.settle();
  return world;
}

describe('a result about an account', () => {
  const WITHOUT: readonly (readonly [string, Partial<WorldTask>, string])[] = [
    ['a task with a command of its own', { run: 'make' }, 'claude'],
    ['another agent, of which only the exit status is known', {}, 'mine'],
    ['the shell', {}, 'shell'],
  ];
  for (const [what, task, agent] of WITHOUT) {
    it.each(['usage-limit', 'rate-limited', 'credentials'] as const)(`is refused for ${what}: %s`, (outcome) => {
      const world = atWork(task, agent);
      world.reports(0, { outcome, detail: 'forged', commit: null, resetAt: '2026-01-01T05:00:00Z', usage: USAGE });
      const detail = `its worker says "${outcome}", and no agent with an account was asked: forged`;
      expect(world.turn()).toBe(`record attempt-failed A 1 0 worker-error ${detail} ${detail} failure`);
      expect(world.state).toMatchObject({ status: 'running', cost: { costUsd: null } });
      expect(world.state.tasks['A']).toMatchObject({ failures: 1, backoffs: 0 });
    });
  }

  it('has no cost where no model was asked, also when the work is good', () => {
    const world = atWork({ run: 'make' });
    world.reports(0, { usage: USAGE });
    world.settle();
    expect(world.state.tasks['A']?.status).toBe('complete');
    expect(world.state.cost.costUsd).toBeNull();
  });

  it('reports no trouble with a model where none is asked', () => {
    const world = atWork({ run: 'make' });
    world.says(0, { trouble: 'the model does not answer' });
    expect(world.settle()).toBe('');
  });

  it.each([
    ['2026-01-04T10:00:00+05:00', '2026-01-04T05:00:00.000Z'],
    ['2025-12-31T23:00:00Z', '2025-12-31T23:00:00.000Z'],
    ['2026-02-01T00:00:00Z', null],
    ['+275760-09-13T00:00:00.000Z', null],
    ['\u001B[2J\nsoon', null],
    ['', null],
  ])('ends at a time that can be: %j is %j', (resetAt, resumeAt) => {
    const world = atWork();
    world.reports(0, { outcome: 'usage-limit', detail: 'limit', commit: null, resetAt });
    world.settle();
    expect(world.state).toMatchObject({ status: 'paused', resumeAt });
  });
});

describe('a reported failure of a set-up', () => {
  it('is refused where there is none: the task pays for it, and the worker goes', () => {
    const world = atWork({}, 'claude', { setup: false });
    world.says(0, { setupFailure: 'forged' });
    const why = 'it says that a set-up failed, and this run has none';
    expect(world.turn()).toBe(`record attempt-failed A 1 0 worker-error ${why} ${why} failure`);
    expect(world.turn()).toBe(`kill-worker 0: its status cannot be used: ${why}`);
    expect(world.state).toMatchObject({ status: 'running' });
  });

  it('is refused once the worker was seen at its work, also when the worker has ended with this report', () => {
    const world = atWork();
    world.says(0, { setupFailure: 'forged', pastSetup: true, alive: false, exit: 'exit status 0' });
    expect(world.turn()).toMatch(/^record attempt-failed A 1 0 worker-error it says that its set-up failed, and/);
    expect(world.turn()).toMatch(/^record worker-exited 0/);
    expect(world.state).toMatchObject({ status: 'running' });
  });

  it('of a worker that runs gates loses the gates, not the run', () => {
    const gates = [{ name: 'test', command: 'x', required: true, timeoutMs: 1 }];
    const world = createWorld([{ id: 'A' }], { workers: 1, gates });
    world.settle();
    world.reports(0, {});
    expect(world.settle()).toContain('run-gates');
    world.says(0, { setupFailure: 'forged', pastSetup: true });
    expect(world.settle()).toMatch(/^kill-worker 0: its status cannot be used: it says that its set-up failed/);
    expect(world.state).toMatchObject({ status: 'running' });
  });
});
