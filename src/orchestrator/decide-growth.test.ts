import { describe, expect, it } from 'vitest';
import { commit, createWorld, EMPTY_VIEW, POLICY } from '../../test/support/decision-world.ts';
import { parseGraph } from '../tasks/index.ts';
import type { RunState } from '../state/index.ts';
import { decide } from './decide.ts';
import type { Snapshot, WorkerView } from './plan.ts';
import { advance, ownCopy, reduce } from './reduce.ts';

const BUSY: WorkerView = { ...EMPTY_VIEW, phase: 'running' };

/** A run of one level in its middle: half of its tasks are merged, one is at work, the others wait. */
function midRun(count: number): Snapshot {
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `T${index}` }));
  const parsed = parseGraph({ feature: 'f', tasks });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const world = createWorld(tasks, { workers: 1 });
  world.settle();
  let state = ownCopy(world.state);
  const done = parsed.graph.tasks.slice(1, count / 2);
  for (const { id } of done) {
    const task = state.tasks[id];
    if (task !== undefined) state.tasks[id] = { ...task, status: 'complete', commit: commit(id) };
    state = advance(state, { at: AT, type: 'task-merged', level: 1, task: id, tip: commit(id) });
  }
  const workers = new Map([[0, BUSY]]);
  return {
    now: Date.parse(AT),
    state,
    graph: parsed.graph,
    policy: POLICY,
    workers,
    spares: null,
    merging: false,
    waits: new Map(),
    retries: [],
    stop: null,
  };
}

const AT = '2026-01-01T00:00:00.000Z';

/** How often a turn reads something of a list in the state. */
function readsOfATurn(snapshot: Snapshot): number {
  let reads = 0;
  const counted = <List extends object>(list: List): List =>
    new Proxy(list, {
      get: (target, key, receiver) => {
        reads++;
        return Reflect.get(target, key, receiver) as unknown;
      },
      ownKeys: (target) => {
        reads += Object.keys(target).length;
        return Reflect.ownKeys(target);
      },
    });
  const level = snapshot.state.levels['1'];
  if (level?.trial == null) throw new Error('nothing is merged');
  const trial = { ...level.trial, tasks: counted(level.trial.tasks), tips: counted(level.trial.tips) };
  const state = { ...snapshot.state, tasks: counted(snapshot.state.tasks), levels: { '1': { ...level, trial } } };
  expect(decide({ ...snapshot, state })).toEqual([]);
  return reads;
}

describe('with more tasks', () => {
  it('a turn reads each task as often as with few', () => {
    const [few, many] = [200, 2000].map((count) => readsOfATurn(midRun(count)) / count) as [number, number];
    expect(many).toBeLessThanOrEqual(few * 1.1);
    expect(many).toBeLessThan(10);
  });

  it('an event costs the same: the journal changes the lists that it owns', () => {
    const { state } = midRun(20);
    const next = advance(state, { at: AT, type: 'attempt-verifying', task: 'T0', attempt: 1 });
    expect(next.tasks).toBe(state.tasks);
    expect(next.tasks['T0']?.status).toBe('verifying');
  });
});

it('a reader that does not own a state gets a copy, and the state stays as it was', () => {
  const { state } = midRun(4);
  const before = structuredClone(state);
  const frozen = freeze(state);
  const events = [
    { at: AT, type: 'attempt-verifying', task: 'T0', attempt: 1 },
    { at: AT, type: 'worker-phase', worker: 0, phase: 'busy' },
    { at: AT, type: 'level-published', level: 1, tip: commit('tip'), tasks: ['T1'] },
  ] as const;
  for (const event of events) {
    const after = reduce(frozen, event);
    expect(after).toEqual(advance(structuredClone(before), event));
    expect(after).not.toEqual(before);
  }
  expect(state).toEqual(before);
});

function freeze<Value extends RunState>(state: Value): Value {
  for (const list of [state.tasks, state.workers, state.levels]) {
    for (const entry of Object.values(list)) Object.freeze(entry);
    Object.freeze(list);
  }
  return Object.freeze(state);
}
