import { median } from './measure.js';
import { BUSY, POLICY, SETTINGS } from './turn-facts.js';

const TURNS = 200;

/** Milliseconds of a turn in the middle of a run, in which nothing is to be done. */
export async function timeTurn(count) {
  const { decide } = await import('../dist/orchestrator/decide.js');
  const snapshot = await midRun(count);
  const times = Array.from({ length: TURNS }, () => {
    const started = performance.now();
    if (decide(snapshot).length > 0) throw new Error('a turn without news has decided something');
    return performance.now() - started;
  });
  return median(times);
}

/** Half of the tasks of one level are merged, one is at work, the others wait for the only worker. */
export async function midRun(count) {
  const { parseGraph } = await import('../dist/tasks/index.js');
  const { firstState } = await import('../dist/orchestrator/first-state.js');
  const { replay } = await import('../dist/orchestrator/reduce.js');
  const tasks = Array.from({ length: count }, (_, index) => ({ id: `T${index}`, files: { create: [`${index}.txt`] } }));
  const { graph } = parseGraph({ feature: 'bench', tasks });
  const first = firstState(graph, { settings: SETTINGS, base: COMMIT, integration: 'bench', runId: 'bench', now: AT });
  const task = `T${count - 1}`;
  const state = replay(first, [
    { type: 'worker-starting', ...FACTS, session: 's', mode: 'subprocess', branch: 'b', worktree: 'w' },
    { type: 'worker-phase', ...FACTS, phase: 'busy' },
    { type: 'level-started', ...FACTS },
    ...graph.tasks.slice(0, count / 2).flatMap(({ id }) => mergedTask(id)),
    { type: 'attempt-started', ...FACTS, task },
  ]);
  const workers = new Map([[0, { ...BUSY, attempt: `${task}.1` }]]);
  const nothing = { spares: null, merging: false, waits: new Map(), retries: [], stop: null };
  return { now: 0, state, graph, policy: POLICY, workers, ...nothing };
}

function mergedTask(task) {
  return [
    { type: 'attempt-started', ...FACTS, task },
    { type: 'attempt-accepted', ...FACTS, task },
    { type: 'task-merged', ...FACTS, task },
  ];
}

const AT = '2026-01-01T00:00:00.000Z';
const COMMIT = 'f'.repeat(40);
const FACTS = {
  at: AT,
  worker: 0,
  attempt: 1,
  base: 'e'.repeat(40),
  commit: COMMIT,
  detail: '',
  usage: null,
  level: 1,
  tip: COMMIT,
};
