import { dependentsOf } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { RunState } from '../state/index.ts';
import { record } from './plan.ts';
import type { ActionOf, Snapshot } from './plan.ts';

/** New tries for the failed tasks for which people have asked. */
export function giveNewTries({ retries, state, graph }: Snapshot): ActionOf<'record'>[] {
  return retryable(state, graph, retries).map((task) => record({ type: 'task-reset', task, cause: 'asked to retry' }));
}

/** The tasks that get new tries: the failed ones asked for, and what was blocked by them. */
export function retryable(state: RunState, graph: TaskGraph, asked: readonly string[]): string[] {
  const reached = new Set(asked.flatMap((id) => [id, ...dependentsOf(graph, id)]));
  return [...reached].filter((id) => {
    const status = state.tasks[id]?.status;
    return status === 'blocked' || (status === 'failed' && asked.includes(id));
  });
}
