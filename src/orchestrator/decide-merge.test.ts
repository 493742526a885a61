import { expect, it } from 'vitest';
import { commit, createWorld, graphOf } from '../../test/support/decision-world.ts';
import type { RunState } from '../state/index.ts';
import { decideMerges, tipOf } from './decide-merge.ts';
import type { MergeEnd } from './decide-merge.ts';
import { formatActions } from './plan.ts';

const TASKS = [{ id: 'A' }, { id: 'B' }];

/** A and B are accepted, and nothing is merged. */
function accepted(): RunState {
  const world = createWorld(TASKS);
  world.settle();
  world.merges('under way');
  world.reports(0, {});
  world.reports(1, {});
  world.settle();
  return world.state;
}

const conflict = (others: readonly string[]): MergeEnd => ({ kind: 'conflict', task: 'B', files: ['x', 'y'], others });

it.each<[string, MergeEnd, string]>([
  ['a merge', { kind: 'merged', task: 'B', tip: commit('+B') }, `record task-merged 1 B ${commit('+B')}`],
  [
    'a conflict with a merged task',
    conflict(['A']),
    'record attempt-failed B 1 1 conflict conflict with A in x, y Your change could not be merged: conflict with A in x, y. Do the task again on top of the tree that you find now, which has the other change in it. failure',
  ],
  [
    'a conflict with what was published before',
    conflict([]),
    'record attempt-failed B 1 1 conflict conflict with the integration branch in x, y Your change could not be merged: conflict with the integration branch in x, y. Do the task again on top of the tree that you find now, which has the other change in it. failure',
  ],
  [
    'a checkout that would be too large',
    { kind: 'too-large', task: 'B', tooMuch: '9 GiB too much' },
    'record attempt-failed B 1 1 too-large 9 GiB too much Your change could not be merged: with it, 9 GiB too much. failure',
  ],
])('%s is answered for its own task', (_what, end, expected) => {
  const state = accepted();
  const merges = { level: 1, onto: tipOf(state, 1), ends: [end] };
  expect(formatActions(decideMerges({ state, graph: graphOf(TASKS) }, merges))).toBe(expected);
});

it('merges onto what is no longer the tip of the current level do not count', () => {
  const state = accepted();
  const graph = graphOf(TASKS);
  const ends = [conflict(['A'])];
  expect(decideMerges({ state, graph }, { level: 1, onto: commit('another'), ends })).toEqual([]);
  expect(decideMerges({ state, graph }, { level: 2, onto: tipOf(state, 2), ends })).toEqual([]);
});
