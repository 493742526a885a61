import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World, WorldTask } from '../../test/support/decision-world.ts';
import type { Policy } from './plan.ts';

const GATE = { name: 'test', command: 'x', required: true, timeoutMs: 1 };
const ENOUGH = 8e9;

function begin(tasks: readonly WorldTask[], workers = 2, policy: Partial<Policy> = {}, gates = [GATE].slice(1)): World {
  const world = createWorld(tasks, { workers, gates }, { singleUse: true, ...policy });
  world.hasMemory(ENOUGH);
  return world;
}

const tasks = (count: number): WorldTask[] => Array.from({ length: count }, (_, index) => ({ id: `T${index}` }));
const spares = (said: string): string[] => said.split('\n').filter((line) => line.includes('-spare '));

describe('spares', () => {
  it('are made while more work waits for a start, one for each place, under the number that is free', () => {
    const world = begin(tasks(5));
    expect(spares(world.settle())).toEqual([
      'make-spare 2: 3 starts are to come',
      'make-spare 3: 3 starts are to come',
    ]);
  });

  it('are no more than starts that are to come', () => {
    expect(spares(begin(tasks(3)).settle())).toEqual(['make-spare 2: 1 starts are to come']);
    expect(spares(begin(tasks(2)).settle())).toEqual([]);
  });

  it('are made for verifications and gates as well', () => {
    const verified = [
      { id: 'A', verify: 'true' },
      { id: 'B', run: 'x' },
    ];
    expect(spares(begin(verified, 2, { verifyAfresh: true }).settle())).toEqual(['make-spare 2: 1 starts are to come']);
    expect(spares(begin(tasks(2), 2, {}, [GATE]).settle())).toEqual(['make-spare 2: 1 starts are to come']);
  });

  it('wait until each worker has begun: it needs the machine more', () => {
    const world = begin(tasks(5));
    world.turn();
    world.turn();
    world.says(1, { phase: 'preparing' });
    expect(spares(world.settle())).toEqual([]);
    world.says(1, { phase: 'running' });
    expect(spares(world.settle())).toHaveLength(2);
  });

  it('are made under the number of a worker that leaves, and never under that of one at work', () => {
    const world = begin(
      ['A', 'B', 'C'].map((id) => ({ id, run: 'x' })),
      1,
    );
    expect(spares(world.settle())).toEqual(['make-spare 1: 2 starts are to come']);
    world.spareIs(1, 'ready');
    world.reports(0, {});
    expect(spares(world.settle())).toEqual(['make-spare 0: 1 starts are to come']);
  });

  it('are made for a free number first', () => {
    const world = begin([{ id: 'A' }, { id: 'B', level: 2 }], 2);
    expect(spares(world.settle())).toEqual(['make-spare 1: 1 starts are to come']);
  });

  it('serve the next start, before a number without one', () => {
    const world = begin([{ id: 'A' }, { id: 'B' }, { id: 'C', level: 2 }], 2);
    world.settle();
    world.spareIs(2, 'going');
    world.spareIs(3, 'ready');
    for (const worker of [0, 1]) world.reports(worker, {});
    world.settle();
    for (const worker of [0, 1]) world.isRemoved(worker);
    expect(world.settle()).toContain(
      'start-worker 3: more ready work than free workers; a spare waits\nassign C.1 to 3',
    );
  });

  it('that are being made are waited for', () => {
    const world = begin(tasks(2), 1);
    expect(spares(world.settle())).toEqual(['make-spare 1: 1 starts are to come']);
    world.reports(0, {});
    world.settle();
    world.isRemoved(0);
    expect(world.settle()).not.toContain('start-worker');
    world.spareIs(1, 'ready');
    expect(world.settle()).toContain('start-worker 1: more ready work than free workers; a spare waits');
  });

  it('are not made where memory is short, and go when it gets so', () => {
    const world = begin(tasks(5));
    world.hasMemory(9e8);
    expect(spares(world.settle())).toEqual([]);
    world.hasMemory(ENOUGH);
    world.settle();
    for (const worker of [2, 3]) world.spareIs(worker, 'ready');
    world.hasMemory(9e8);
    expect(spares(world.settle())).toEqual([]);
    world.hasMemory(1e8);
    expect(spares(world.settle())).toEqual(['drop-spare 3: memory is short', 'drop-spare 2: memory is short']);
  });

  it('go when no more starts are to come', () => {
    const world = begin([{ id: 'A', verify: 'true' }, { id: 'B' }], 2, { verifyAfresh: true });
    world.settle();
    world.spareIs(2, 'ready');
    world.reports(0, { outcome: 'verification-failed' });
    world.settle();
    world.isRemoved(0);
    world.settle();
    world.spareIs(0, 'ready');
    world.spareIs(3, 'ready');
    expect(spares(world.settle())).toEqual(['drop-spare 3: no more starts are to come']);
  });
});
