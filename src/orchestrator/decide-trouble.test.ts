import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';

/** Worker 0 is at its first attempt at A. */
function atWork(): World {
  const world = createWorld([{ id: 'A' }], { workers: 1 });
  world.settle();
  return world;
}

describe('trouble of an agent with its model', () => {
  it('is shown once for each cause, and so is its end', () => {
    const world = atWork();
    world.says(0, { trouble: 'no answer' });
    expect(world.settle()).toBe('record worker-trouble 0 A no answer');
    expect(world.state.workers[0]).toMatchObject({ trouble: 'no answer' });
    world.says(0, { trouble: 'overloaded' });
    expect(world.settle()).toBe('record worker-trouble 0 A overloaded');
    world.says(0, { trouble: null });
    expect(world.settle()).toBe('record worker-recovered 0 A');
    expect(world.state.workers[0]).toMatchObject({ trouble: null });
    for (const trouble of ['no answer', null, 'overloaded', null]) {
      world.says(0, { trouble });
      expect(world.settle()).toBe('');
    }
  });

  it('is shown for each worker', () => {
    const world = createWorld([{ id: 'A' }, { id: 'B' }]);
    world.settle();
    for (const worker of [0, 1]) world.says(worker, { trouble: 'no answer' });
    expect(world.settle()).toBe(
      ['record worker-trouble 0 A no answer', 'record worker-trouble 1 B no answer'].join('\n'),
    );
  });

  it('does not fill the log, whatever a task does to its worker', () => {
    const world = atWork();
    const told = Array.from({ length: 1000 }, (_, index) => {
      world.says(0, { trouble: index % 2 === 0 ? `trouble ${index}` : null });
      return world.settle();
    });
    expect(told.filter((text) => text.includes('worker-trouble'))).toHaveLength(5);
    expect(told.filter((text) => text.includes('worker-recovered'))).toHaveLength(5);
  });

  it('has no other effect: the attempt ends as it would have, and its end does not count as recovery', () => {
    const world = atWork();
    world.says(0, { trouble: 'no answer' });
    world.settle();
    world.reports(0, { outcome: 'agent-failed', detail: 'it gave up', commit: null });
    const text = world.settle();
    expect(text).toContain('record attempt-failed A 1 0 agent-failed it gave up');
    expect(text).not.toContain('recovered');
    expect(world.state.workers[0]).toMatchObject({ trouble: null, task: 'A' });
  });

  it('is ignored when no agent is at work, and does not end while a result is examined', () => {
    const world = atWork();
    world.says(0, { trouble: 'no answer', phase: 'verifying' });
    expect(world.settle()).not.toContain('trouble');
    world.says(0, { trouble: 'no answer', phase: 'running' });
    expect(world.settle()).toContain('trouble');
    world.says(0, { trouble: null, phase: null });
    expect(world.settle()).toBe('');
  });

  it('is shown anew in the next session of a worker', () => {
    const world = atWork();
    world.says(0, { trouble: 'no answer' });
    world.settle();
    world.dies(0);
    expect(world.settle()).toContain('start-worker 0');
    expect(world.state.workers[0]).toMatchObject({ trouble: null });
    world.says(0, { trouble: 'no answer' });
    expect(world.settle()).toBe('record worker-trouble 0 A no answer');
  });
});
