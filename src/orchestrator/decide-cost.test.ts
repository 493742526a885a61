import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World, WorldTask } from '../../test/support/decision-world.ts';
import { NO_USAGE } from '../protocol/index.ts';
import type { Usage } from '../protocol/index.ts';
import type { Caps } from '../state/index.ts';

const used = (costUsd: number | null): Usage => ({ ...NO_USAGE, inputTokens: 1000, costUsd });
const cap = (usd: number) => ({ usd, asked: true });
const NO_CAPS: Caps = { run: null, task: null };

/** All tasks of the first level are at work. */
function atWork(tasks: readonly WorldTask[], caps: Partial<Caps>, agent = 'claude'): World {
  const world = createWorld(tasks, { workers: 2, agent, caps: { ...NO_CAPS, ...caps } });
  world.settle();
  return world;
}

/** The worker saves what it has, reports that it was stopped, and ends. */
function ends(world: World, worker: number, cost: number, cause: string): void {
  world.reports(worker, { outcome: 'interrupted', detail: 'stopped before it was done', usage: used(cost) });
  world.says(worker, { retired: cause, alive: false, exit: 'ended with exit status 0' });
}

describe('what a run costs', () => {
  it('is recorded as agents work, in steps, and never twice', () => {
    const world = atWork([{ id: 'A' }], {});
    expect(world.state.cost.costUsd).toBeNull();
    const costs = [0.01, 0.02, 0.05, 0.07, 0.11].map((cost) => {
      world.says(0, { usage: used(cost) });
      world.settle();
      return world.state.cost.costUsd;
    });
    expect(costs).toEqual([0.01, 0.01, 0.01, 0.07, 0.07]);
    world.reports(0, { usage: used(0.09) });
    world.settle();
    expect(world.state.cost).toEqual(used(0.09));
    expect(world.state.tasks['A']).toMatchObject({ cost: used(0.09), attempts: [{ usage: used(0.09) }] });
  });

  it('has all attempts in it, also one whose worker has died, and that of an earlier orchestrator', () => {
    const world = atWork([{ id: 'A' }], {});
    world.says(0, { usage: used(1) });
    world.settle();
    world.says(0, { usage: used(1.03), alive: false, exit: 'killed by SIGKILL' });
    world.settle();
    world.resume();
    world.reports(0, { outcome: 'verification-failed', usage: used(0.5) });
    world.settle();
    world.reports(0, { usage: used(0.25) });
    world.settle();
    expect([world.state.cost.costUsd, world.state.tasks['A']?.cost.costUsd]).toEqual([1.78, 1.78]);
  });

  it('is not told so often, whatever a worker reports, that the log gets full or other work waits', () => {
    const world = atWork([{ id: 'A' }, { id: 'B' }], {});
    world.reports(1, {});
    world.says(0, { usage: used(0.01) });
    expect(world.turn()).toMatch(/^record attempt-spent A 1\nrecord attempt-accepted B 1/);
    let told = 0;
    for (let cost = 1; cost <= 5000; cost++) {
      for (const reported of [cost, cost / 2]) {
        world.says(0, { usage: used(reported) });
        told += world.turn().split('attempt-spent').length - 1;
      }
    }
    expect(told).toBeGreaterThan(100);
    expect(told).toBeLessThan(400);
    expect(world.state.cost.costUsd).toBeGreaterThan(4900);
  });

  it('is not what a task with a command of its own makes its worker say', () => {
    const world = atWork([{ id: 'A', run: 'make' }], { run: cap(1) });
    world.says(0, { usage: used(1e9) });
    expect(world.settle()).toBe('');
    expect(world.state.cost.costUsd).toBeNull();
  });
});

describe('the cap of a run', () => {
  it('ends the agents at once, uses up no try, and pauses the run', () => {
    const world = atWork([{ id: 'A' }, { id: 'B' }, { id: 'C' }], { run: cap(5) });
    world.says(0, { usage: used(2.5) });
    world.says(1, { usage: used(2.52) });
    const cause = 'cost $5.02, cap $5.00';
    expect(world.settle()).toBe(
      [
        'record attempt-spent A 1',
        'record attempt-spent B 1',
        `retire-worker 0: ${cause}`,
        `retire-worker 1: ${cause}`,
      ].join('\n'),
    );
    ends(world, 0, 2.5, cause);
    ends(world, 1, 2.52, cause);
    expect(world.settle()).toMatch(new RegExp(`\\nfinish paused 3: ${cause.replaceAll('$', '\\$')}$`));
    for (const id of ['A', 'B']) {
      expect(world.state.tasks[id]).toMatchObject({ status: 'pending', failures: 0, losses: 0 });
      expect(world.state.tasks[id]?.attempts).toMatchObject([{ outcome: 'interrupted' }]);
    }
    expect(world.state.tasks['C']?.attempts).toEqual([]);
  });

  it('lets go on what costs nothing: what is accepted is merged before the pause', () => {
    const world = atWork([{ id: 'A' }, { id: 'B' }, { id: 'M', run: 'make' }], { run: cap(5) });
    world.reports(0, { usage: used(5.5) });
    const text = world.settle();
    expect(text).toContain('retire-worker 1: cost $5.50, cap $5.00');
    expect(text).toContain('merge-tasks A into level 1');
    expect(world.state.tasks['M']?.status).toBe('running');
    ends(world, 1, 0, 'cost $5.50, cap $5.00');
    world.settle();
    expect(world.state.status).toBe('running');
    world.reports(0, {});
    expect(world.settle()).toMatch(/merge-tasks M into level 1: accepted\nfinish paused 3: cost \$5\.50, cap \$5\.00$/);
  });

  it('does not keep a run from its end when no agent is needed any more', () => {
    const world = atWork([{ id: 'A' }, { id: 'M', level: 2, run: 'make' }], { run: cap(5) });
    world.reports(0, { usage: used(6) });
    world.settle();
    world.reports(0, {});
    expect(world.settle()).toContain('finish complete 0');
  });

  it('is not over for a resumed run with the same cap, and is with a higher one', () => {
    const world = atWork([{ id: 'A' }], { run: cap(5) });
    world.says(0, { usage: used(5) });
    world.settle();
    ends(world, 0, 5, 'cost $5.00, cap $5.00');
    world.settle();
    world.resume();
    expect(world.settle()).toBe('finish paused 3: cost $5.00, cap $5.00');
    world.resume({ caps: { run: cap(10), task: null } });
    expect(world.settle()).toContain('assign A.2 to 0');
  });

  it('does not charge a worker that does not end in order', () => {
    const world = atWork([{ id: 'A' }], { run: cap(5) });
    world.says(0, { usage: used(5) });
    world.settle();
    world.says(0, { alive: false, exit: 'killed by SIGKILL' });
    expect(world.settle()).toContain('record attempt-failed A 1 0 interrupted stopped before it was done: cost $5.00');
    expect(world.state.tasks['A']).toMatchObject({ losses: 0, failures: 0 });
  });
});

describe('the cap of a task', () => {
  it('counts all its attempts, ends the last one and gives the task up; the others go on', () => {
    const world = atWork([{ id: 'A' }, { id: 'B' }, { id: 'C', needs: ['A'] }], { task: cap(2) });
    world.reports(0, { outcome: 'verification-failed', detail: 'exit status 1', usage: used(1.5) });
    expect(world.settle()).toContain('assign A.2 to 0');
    world.says(0, { usage: used(0.54) });
    const cause = 'cost $2.04, cap for one task $2.00';
    expect(world.settle()).toBe(`record attempt-spent A 2\nretire-worker 0: ${cause}`);
    ends(world, 0, 0.54, cause);
    expect(world.settle()).toContain(`record task-failed A ${cause}`);
    expect(world.state.tasks['A']?.attempts.at(-1)).toMatchObject({ outcome: 'over-cost', detail: cause });
    expect(world.state.tasks['B']?.status).toBe('running');
    world.reports(1, {});
    expect(world.settle()).toContain('finish failed 1: 1 of 3 tasks are done, 1 failed, 1 blocked');
  });

  it('does not refuse work that is done', () => {
    const world = atWork([{ id: 'A' }], { task: cap(2) });
    world.reports(0, { usage: used(3) });
    expect(world.settle()).toContain('finish complete 0');
  });

  it('holds for new tries until it is raised', () => {
    const world = atWork([{ id: 'A' }], { task: cap(2) });
    world.reports(0, { outcome: 'agent-failed', usage: used(3) });
    expect(world.settle()).toContain('record task-failed A cost $3.00, cap for one task $2.00');
    world.resume({ caps: { run: null, task: cap(4) } });
    world.retry('A');
    expect(world.settle()).toContain('assign A.2 to 0');
  });
});
