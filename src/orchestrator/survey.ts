import type { TaskState } from '../state/index.ts';
import { isForAgent, taskOf, tasksAt } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';
import type { Snapshot } from './plan.ts';

export interface Seen {
  readonly id: string;
  readonly plan: Task;
  readonly task: TaskState;
}

/** The tasks of all levels that a decision may be about, in the order of the graph. */
interface Survey {
  readonly pending: readonly Seen[];
  readonly underWay: readonly Seen[];
  /** Complete, and not in the integration branch yet. */
  readonly unpublished: readonly Seen[];
}

const SURVEYED = new WeakMap<Snapshot, Survey>();

/** Looks at each task once per turn: with thousands of tasks a look for each question would be slow. */
export function survey(snapshot: Snapshot): Survey {
  const known = SURVEYED.get(snapshot);
  if (known !== undefined) return known;
  const [pending, underWay, unpublished]: [Seen[], Seen[], Seen[]] = [[], [], []];
  for (const plan of snapshot.graph.tasks) {
    const task = snapshot.state.tasks[plan.id];
    if (task === undefined) continue;
    const seen = { id: plan.id, plan, task };
    if (task.status === 'pending') pending.push(seen);
    else if (task.status === 'running' || task.status === 'verifying') underWay.push(seen);
    else if (task.status === 'complete' && !task.merged) unpublished.push(seen);
  }
  const surveyed = { pending, underWay, unpublished };
  SURVEYED.set(snapshot, surveyed);
  return surveyed;
}

/** The lowest level that is not over; undefined when all are. */
export function currentLevel({ state, graph }: Pick<Snapshot, 'state' | 'graph'>): number | undefined {
  return graph.levels.find((level) => {
    const status = state.levels[level]?.status;
    return status !== 'complete' && status !== 'failed';
  });
}

export function tasksOf({ state, graph }: Snapshot, level: number): { id: string; task: TaskState }[] {
  return tasksAt(graph, level).flatMap(({ id }) => {
    const task = state.tasks[id];
    return task === undefined ? [] : [{ id, task }];
  });
}

/** Whether an agent does the task, and not a command. */
export function asksAgent({ state, graph }: Pick<Snapshot, 'state' | 'graph'>, id: string): boolean {
  const task = taskOf(graph, id);
  return task !== undefined && isForAgent(task, state.settings.agent);
}

export type HeldBack = (task: TaskState) => boolean;

/**
 * A task with a conflict or red gates waits until the other tasks of its level are published: its next attempt starts
 * from a tree that contains their work.
 */
export function heldBack(snapshot: Snapshot, level: number): HeldBack {
  const unpublished = survey(snapshot).unpublished.some(({ task }) => task.level === level);
  return ({ status, attempts }) => {
    const outcome = attempts.at(-1)?.outcome;
    return unpublished && status === 'pending' && (outcome === 'conflict' || outcome === 'gate-failed');
  };
}
