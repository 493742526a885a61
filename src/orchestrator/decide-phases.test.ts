import { describe, expect, it } from 'vitest';
import { createWorld } from '../../test/support/decision-world.ts';
import type { World } from '../../test/support/decision-world.ts';
import type { Phase } from '../protocol/index.ts';

const GATE = { name: 'test', command: 'x', required: true, timeoutMs: 1 };

/** The phases that are recorded when a worker reports these, one at each look. */
function shown(world: World, worker: number, phases: readonly Phase[]): string[] {
  return phases.flatMap((phase) => {
    world.says(worker, { phase });
    const said = world.settle().matchAll(/^record worker-phase \d+ (\w+)$/gm);
    return [...said].map(([, name = '']) => name);
  });
}

/** What an honest worker reports of one assignment. */
const HONEST: readonly Phase[] = ['idle', 'preparing', 'setup', 'running', 'verifying'];
const AS_SHOWN = ['idle', 'busy', 'setup', 'busy'];

/** Worker 0 is at its first attempt, and has shown nothing yet. */
function begun(singleUse: boolean): World {
  const world = createWorld([{ id: 'A' }, { id: 'B' }], { workers: 1, gates: [GATE] }, { singleUse });
  world.turn();
  world.turn();
  expect(world.state.workers[0]).toMatchObject({ status: 'STARTING', task: 'A' });
  return world;
}

describe('the phase of a worker', () => {
  it.each([
    ['for a single use', true],
    ['that lives on', false],
  ])('is shown as an honest one %s goes through its assignment', (_which, singleUse) => {
    expect(shown(begun(singleUse), 0, HONEST)).toEqual(AS_SHOWN);
  });

  it.each([
    ['for a single use', true],
    ['that lives on', false],
  ])('does not fill the log, whatever a task does to its worker %s', (_which, singleUse) => {
    const world = begun(singleUse);
    const forged = Array.from({ length: 1000 }, () => ['setup', 'idle', 'running'] as const).flat();
    expect(shown(world, 0, forged).length).toBeLessThanOrEqual(10);
  });

  it('is shown for each of the assignments that a worker lives through, whatever one of them has done', () => {
    const world = begun(false);
    shown(world, 0, Array.from({ length: 20 }, () => ['setup', 'idle'] as const).flat());
    world.reports(0, {});
    expect(world.settle()).toContain('assign B.1 to 0');
    expect(shown(world, 0, ['setup', 'running', 'idle'])).toEqual(['setup', 'busy', 'idle']);
    world.reports(0, {});
    expect(world.settle()).toContain('run-gates of level 1 with 2 tasks on 0');
    expect(shown(world, 0, ['setup', 'gating'])).toEqual(['setup', 'busy']);
  });
});
