import { describe, expect, it } from 'vitest';
import { createWorld, graphOf } from '../../test/support/decision-world.ts';
import { taskAssignment } from './apply.ts';
import type { Journal } from './journal.ts';
import type { RunContext } from './ports.ts';

const HOUR_MS = 3_600_000;

describe('what a failed attempt has left in a worktree', () => {
  it.each([
    ['went on', 1000],
    ['was set back by an hour', -HOUR_MS],
  ])('does not reach the next task there, when the clock %s before the failure', (_how, byMs) => {
    const tasks = [
      { id: 'FIRST', minutes: 30 },
      { id: 'FAILS', minutes: 20 },
      { id: 'NEXT', minutes: 10 },
    ];
    const world = createWorld(tasks, { workers: 1 });
    const context = { options: { agent: {}, limits: {} }, graph: graphOf(tasks) } as unknown as RunContext;
    const fresh = (id: string): boolean => {
      const assignment = taskAssignment(context, world as unknown as Journal, id);
      return assignment.kind === 'task' && assignment.fresh;
    };
    world.settle();
    world.reports(0, {});
    world.wait(byMs);
    world.settle();
    expect(fresh('FAILS')).toBe(false);
    world.reports(0, { outcome: 'rate-limited', detail: '429', commit: null });
    world.settle();
    expect(world.state.tasks['NEXT']?.status).toBe('running');
    expect(fresh('NEXT')).toBe(true);
  });
});
