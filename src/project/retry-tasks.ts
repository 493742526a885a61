import { hasCode, systemClock } from '../lib/index.ts';
import { retryable, retryAtRest } from '../orchestrator/index.ts';
import { stateErrors } from '../state/errors.ts';
import type { RunState } from '../state/index.ts';
import { dependentsOf } from '../tasks/index.ts';
import { projectErrors } from './errors.ts';
import { loadGraph } from './find-graph.ts';
import { readRun } from './left-work.ts';
import type { Project } from './project.ts';

interface Retried {
  /** A live orchestrator was asked; otherwise the saved state was changed. */
  readonly live: boolean;
  /** Empty when no task has failed. */
  readonly asked: readonly string[];
}

/** Gives new tries to the named failed task, or to all. A live run is asked to; the state of an ended one is changed. */
export async function retryTasks(project: Project, feature: string, named: string | undefined): Promise<Retried> {
  const store = project.store(feature);
  const { asked } = await chooseTasks(project, feature, named);
  if (asked.length === 0) return { live: false, asked };
  let release;
  try {
    release = await store.lock();
  } catch (error) {
    if (!hasCode(error, stateErrors.ALREADY_RUNNING)) throw error;
    for (const task of asked) await store.ask({ kind: 'retry', task });
    return { live: true, asked };
  }
  try {
    // The run may have ended since the first look, so the state is read again under the lock.
    const now = await chooseTasks(project, feature, named);
    const { graph } = await loadGraph(store.paths.usedGraph, 'off');
    const tasks = retryable(now.state, graph, now.asked);
    await retryAtRest({ clock: systemClock, store, emit: () => undefined }, now.state, tasks);
    return { live: false, asked: now.asked };
  } finally {
    await release();
  }
}

async function chooseTasks(
  project: Project,
  feature: string,
  named: string | undefined,
): Promise<{ readonly state: RunState; readonly asked: readonly string[] }> {
  const state = await readRun(project, feature);
  const failed = Object.keys(state.tasks).filter((id) => state.tasks[id]?.status === 'failed');
  if (named === undefined) return { state, asked: failed };
  const status = state.tasks[named]?.status;
  if (status === undefined) throw projectErrors.TASK_UNKNOWN({ task: named, known: Object.keys(state.tasks) });
  if (status === 'failed') return { state, asked: [named] };
  const waitsFor = status === 'blocked' ? await blockers(project, feature, failed, named) : [];
  throw projectErrors.TASK_NOT_RETRYABLE({ feature, task: named, status, waitsFor });
}

/** The failed tasks that a task waits for, directly or through others. */
async function blockers(
  { store }: Project,
  feature: string,
  failed: readonly string[],
  task: string,
): Promise<string[]> {
  const { graph } = await loadGraph(store(feature).paths.usedGraph, 'off');
  return failed.filter((id) => dependentsOf(graph, id).includes(task));
}
