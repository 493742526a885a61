import { describe, expect, it } from 'vitest';
import { createWorld, graphOf, POLICY } from '../../test/support/decision-world.ts';
import { whyFresh } from './decide-assignment.ts';

const HOUR_MS = 3_600_000;
const TASKS = [
  { id: 'FIRST', minutes: 30 },
  { id: 'FAILS', minutes: 20 },
  { id: 'NEXT', minutes: 10 },
];

describe('what an attempt that was not accepted has left in a worktree', () => {
  it.each([
    ['went on', 1000],
    ['was set back by an hour', -HOUR_MS],
  ])('does not reach the next task there, when the clock %s before the failure', (_how, byMs) => {
    const world = createWorld(TASKS, { workers: 1 });
    expect(world.settle()).toContain('assign FIRST.1 to 0 on 6261736: ready\n');
    world.reports(0, {});
    world.wait(byMs);
    expect(world.settle()).toContain('assign FAILS.1 to 0 on 6261736: ready\n');
    world.reports(0, { outcome: 'rate-limited', detail: '429', commit: null });
    expect(world.settle()).toContain(
      'assign NEXT.1 to 0 on 6261736: ready; afresh, as worker 0 had FAILS.1 before, which was not accepted\n',
    );
  });

  it('does not reach the next try of the same task', () => {
    const world = createWorld([{ id: 'A' }], { workers: 1 });
    world.settle();
    world.reports(0, { outcome: 'idle', detail: 'no output', commit: null });
    expect(world.settle()).toContain(
      'assign A.2 to 0 on 6261736: again, because: no output; afresh, as the task has failed once\n',
    );
  });

  it('is kept away in the same way when an assignment is delivered a second time', () => {
    const world = createWorld(TASKS, { workers: 1 });
    const graph = graphOf(TASKS);
    world.settle();
    world.reports(0, {});
    world.settle();
    expect(whyFresh({ state: world.state, graph, policy: POLICY }, { task: 'FAILS', worker: 0, number: 1 })).toBeNull();
    world.reports(0, { outcome: 'rate-limited', detail: '429', commit: null });
    world.settle();
    expect(whyFresh({ state: world.state, graph, policy: POLICY }, { task: 'NEXT', worker: 0, number: 1 })).toContain(
      'FAILS.1',
    );
  });
});
