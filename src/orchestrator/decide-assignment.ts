import { longestFirst } from '../tasks/index.ts';
import type { RunState, TaskState } from '../state/index.ts';
import { currentLevel, isHeld } from './decide-level.ts';
import { findHand } from './decide-workers.ts';
import type { Action, Snapshot } from './plan.ts';

/** The longest ready task to any free worker; a new worker while there is more to do than hands. */
export function assignTasks(snapshot: Snapshot): Action[] {
  const level = currentLevel(snapshot);
  if (level === undefined || findHand(snapshot, new Set()).worker === undefined) return [];
  const actions: Action[] = [];
  const taken = new Set<number>();
  for (const id of longestFirst(snapshot.graph, readyTasks(snapshot, level))) {
    const { worker, start } = findHand(snapshot, taken);
    if (worker === undefined) break;
    taken.add(worker);
    if (start !== undefined) actions.push({ kind: 'start-worker', worker, cause: start });
    actions.push(assignment(snapshot.state, id, worker));
  }
  return actions;
}

function readyTasks({ state, graph, waits }: Snapshot, level: number): string[] {
  const ready = (id: string): boolean => {
    const task = state.tasks[id];
    if (task === undefined || task.level !== level || task.status !== 'pending') return false;
    return !isHeld(state, task) && !waits.has(id);
  };
  return graph.tasks.map((task) => task.id).filter(ready);
}

function assignment(state: RunState, task: string, worker: number): Action {
  const known: TaskState | undefined = state.tasks[task];
  const number = (known?.attempts.at(-1)?.number ?? 0) + 1;
  const cause = number === 1 ? 'ready' : `again, because: ${known?.cause ?? 'asked to retry'}`;
  return { kind: 'assign', task, worker, number, base: state.integrationTip, cause };
}
