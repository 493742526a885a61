import { expect, it } from 'vitest';
import { createWorld } from '../../../test/support/decision-world.ts';
import type { RunState } from '../../state/index.ts';
import { columnsOf } from './columns.ts';
import { colorsFor } from './colors.ts';
import { endView } from './end-view.ts';

const idOf = (index: number): string => `L${Math.floor(index / 10) + 1}-${String(index).padStart(3, '0')}`;

/** So many tasks, ten in each level; one of the second level has failed, and the other levels have not begun. */
function stopped(count: number): RunState {
  const world = createWorld(
    Array.from({ length: count }, (_, index) => ({ id: idOf(index), level: Math.floor(index / 10) + 1 })),
    { workers: 10 },
  );
  world.settle();
  for (let worker = 0; worker < 10; worker += 1) world.reports(worker, {});
  world.settle();
  for (let time = 0; time < 2; time += 1) {
    world.reports(3, {
      outcome: 'verification-failed',
      detail: `the verification "npm test" failed: ${'x'.repeat(99)}`,
    });
    world.settle();
  }
  world.reports(0, {});
  world.settle();
  return world.state;
}

const textOf = (state: RunState, columns: number): string[] => endView(state, columns, colorsFor(false)).map(String);

it('of some tasks, what stays is a row for each, none wider than the terminal', () => {
  const lines = textOf(stopped(28), 80);
  expect(lines).toHaveLength(28 + 3);
  expect(lines.slice(0, 2)).toEqual(['Level 1: complete', expect.stringMatching(/^✓ L1-000 +done /)]);
  expect(lines).toContainEqual(expect.stringMatching(/^✗ L2-013 +failed .*…$/));
  expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(80);
});

it('of many tasks, what stays is how far each level is, and what has failed', () => {
  expect(textOf(stopped(300), 100)).toEqual([
    'Level 1: complete · 10 of 10 tasks done',
    'Level 2: running · 1 of 10 tasks done',
    expect.stringMatching(
      /^✗ L2-013 +failed +0:00 +failed 2 of 2 times; last: the verification "npm test" failed: x+…$/,
    ),
    'Levels 3 to 30: pending · 0 of 280 tasks done',
  ]);
});

it('a level at its gates is not said to have green ones, as these are of a part of its work', () => {
  const state = stopped(28);
  const gates = [{ name: 'test', ok: true, required: true, detail: '' }];
  const level = state.levels[2];
  if (level === undefined) throw new Error('no level 2');
  const withGates = (status: typeof level.status): RunState => ({
    ...state,
    levels: { ...state.levels, 2: { ...level, status, gates } },
  });
  expect(textOf(withGates('gating'), 80)).toContain('Level 2: gating');
  expect(textOf(withGates('failed'), 80)).not.toContain('Level 2: failed,');
  expect(textOf(withGates('complete'), 80)).toContain('Level 2: complete, gates green');
});
