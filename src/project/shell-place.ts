import { libErrors } from '../lib/index.ts';
import type { RunState } from '../state/index.ts';
import { projectErrors } from './errors.ts';

/** A container that works on something now. */
export interface LivePlace {
  readonly worker: number;
  readonly containerId: string;
  /** Null for gates. */
  readonly task: string | null;
}

/** A commit on which a container is made. */
export interface FreshPlace {
  readonly task: string;
  readonly commit: string;
  /** What the commit is, in words. */
  readonly what: string;
}

/** Pure: the container that works on this task, or for this worker; undefined when none does. */
export function livePlace({ workers, tasks }: RunState, target: string): LivePlace | undefined {
  const last = tasks[target]?.attempts.at(-1);
  const number = isWorker(target) ? Number(target) : last?.outcome === null ? (last.verifier ?? last.worker) : -1;
  const worker = workers[number];
  if (worker === undefined || worker.task === null || worker.containerId === null) return undefined;
  if (!isWorker(target) && worker.task !== target) return undefined;
  return {
    worker: number,
    containerId: worker.containerId,
    task: tasks[worker.task] === undefined ? null : worker.task,
  };
}

/** Pure: the commit of the task's last attempt, or what the task starts from. Throws when a worker was named. */
export function freshPlace(state: RunState, target: string): FreshPlace {
  const task = state.tasks[target];
  if (task === undefined) throw noSuch(state, target);
  const last = task.attempts.at(-1);
  if (last === undefined) {
    const commit = state.levels[task.level]?.base ?? state.integrationTip;
    return { task: target, commit, what: `${target} has not begun: this is what it starts from (${short(commit)})` };
  }
  const attempt = `attempt ${last.number} of ${target}${last.outcome === null ? '' : ` (${last.outcome})`}`;
  if (last.commit !== null)
    return { task: target, commit: last.commit, what: `the commit of ${attempt}: ${short(last.commit)}` };
  return {
    task: target,
    commit: last.base,
    what: `${attempt} has left no commit: this is what it started from (${short(last.base)})`,
  };
}

/** Pure: the folder in which a worker of the user's rights works on this, if it is known. */
export function worktreeOf({ workers, tasks }: RunState, target: string): string | undefined {
  const number = isWorker(target) ? Number(target) : tasks[target]?.attempts.at(-1)?.worker;
  return number === undefined ? undefined : workers[number]?.worktree;
}

/** Throws when the run has no such worker or task. */
export function checkTarget(state: RunState, target: string): void {
  const isKnown = isWorker(target) ? state.workers[Number(target)] !== undefined : Object.hasOwn(state.tasks, target);
  if (!isKnown) throw noSuch(state, target);
}

function noSuch(state: RunState, target: string): Error {
  if (!isWorker(target)) return projectErrors.TASK_UNKNOWN({ task: target, known: Object.keys(state.tasks) });
  const worker = state.workers[Number(target)];
  if (worker !== undefined) return projectErrors.WORKER_IDLE({ worker: Number(target), feature: state.feature });
  const known = Object.keys(state.workers);
  const hint = known.length === 0 ? 'This run has had no workers yet.' : `Workers of this run: ${known.join(', ')}.`;
  return libErrors.USAGE({ problem: `There is no worker ${target}.`, hint });
}

/** No task has an id of digits alone. */
const isWorker = (target: string): boolean => /^\d+$/.test(target);
const short = (commit: string): string => commit.slice(0, 12);
