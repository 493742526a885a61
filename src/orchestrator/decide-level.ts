import { firstLine } from '../lib/text/words.ts';
import { tasksAt } from '../tasks/index.ts';
import type { RunState, TaskState, Trial } from '../state/index.ts';
import { findWorker } from './decide-workers.ts';
import { attemptId, record } from './plan.ts';
import type { Action, FinishAction, Snapshot } from './plan.ts';
import { survey } from './survey.ts';

/** Merges of one action are recorded together: a kill loses them all. */
const MERGES_AT_ONCE = 16;

/** The lowest level that is not over; undefined when all are. */
export function currentLevel({ state, graph }: Pick<Snapshot, 'state' | 'graph'>): number | undefined {
  return graph.levels.find((level) => {
    const status = state.levels[level]?.status;
    return status !== 'complete' && status !== 'failed';
  });
}

export type HeldBack = (task: TaskState) => boolean;

/**
 * A task with a conflict or red gates waits until the other tasks of its level are published: its next attempt starts
 * from a tree that contains their work.
 */
export function heldBack(snapshot: Snapshot, level: number): HeldBack {
  let unpublished: boolean | undefined;
  return ({ status, attempts }) => {
    const outcome = attempts.at(-1)?.outcome;
    if (status !== 'pending' || (outcome !== 'conflict' && outcome !== 'gate-failed')) return false;
    unpublished ??= survey(snapshot).unpublished.some(({ task }) => task.level === level);
    return unpublished;
  };
}

export function openLevel(snapshot: Snapshot): Action[] {
  const level = currentLevel(snapshot);
  if (level === undefined) return [finishRun(snapshot.state)];
  if (snapshot.state.levels[level]?.status !== 'pending') return [];
  const tasks = tasksOf(snapshot, level).filter(({ task }) => task.status !== 'blocked').length;
  return [record({ type: 'level-started', level, base: snapshot.state.integrationTip, tasks })];
}

/** Merge what is accepted, also while others are at work; when nothing is left to wait for: gates, publish, next level. */
export function closeLevel(snapshot: Snapshot): Action[] {
  const level = currentLevel(snapshot);
  const now = level === undefined ? undefined : snapshot.state.levels[level];
  if (level === undefined || now === undefined || now.gateRun !== null || snapshot.merging) return [];
  const trial = now.trial;
  const { pending, underWay, unpublished } = survey(snapshot);
  const isOfLevel = ({ task }: { task: TaskState }): boolean => task.level === level;
  const tried = triedIn(trial);
  const unmerged = unpublished.filter((seen) => isOfLevel(seen) && !tried.has(seen.id));
  if (unmerged.length > 0) {
    const ids = unmerged.slice(0, MERGES_AT_ONCE).map(({ id }) => id);
    return [{ kind: 'merge-tasks', level, tasks: ids, cause: 'accepted' }];
  }
  const held = heldBack(snapshot, level);
  if (underWay.some(isOfLevel) || pending.some((seen) => isOfLevel(seen) && !held(seen.task))) return [];
  if (trial === null || trial.tasks.length === 0) return finishLevel(snapshot, level);
  const tip = trial.tips.at(-1) ?? snapshot.state.integrationTip;
  if (snapshot.state.settings.gates.length === 0) return [publish(level, tip, 'no gates are configured')];
  return trial.green ? [publish(level, tip, 'all required gates are green')] : tryGates(snapshot, level, trial);
}

const TRIED = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Each turn asks which tasks are in the trial; the set is made anew only when the list is replaced. */
function triedIn(trial: Trial | null): ReadonlySet<string> {
  if (trial === null) return new Set();
  const tried = TRIED.get(trial.tasks) ?? new Set(trial.tasks);
  TRIED.set(trial.tasks, tried);
  return tried;
}

function publish(level: number, tip: string, cause: string): Action {
  return { kind: 'publish', level, tip, cause };
}

/** Green or red? Red twice: halve the batch until the first task is found with which it turns red. */
function tryGates(snapshot: Snapshot, level: number, trial: Trial): Action[] {
  const { search } = trial;
  if (search === null) return runGates(snapshot, level, trial.tasks.length);
  if (search.bad === 0) return [brokenBase(trial)];
  if (search.good < 0) return runGates(snapshot, level, 0);
  if (search.bad - search.good > 1) return runGates(snapshot, level, Math.floor((search.good + search.bad) / 2));
  return [blame(snapshot.state, level, trial, search.bad - 1)];
}

function runGates(snapshot: Snapshot, level: number, count: number): Action[] {
  const { trial, gateLosses = 0 } = snapshot.state.levels[level] ?? {};
  if (gateLosses >= snapshot.policy.losses) return [deadlyGates(level, gateLosses)];
  const { worker, start } = findWorker(snapshot, new Set());
  if (worker === undefined || trial == null) return [];
  const commit = count === 0 ? snapshot.state.integrationTip : (trial.tips[count - 1] ?? snapshot.state.integrationTip);
  const again = trial.reds > 0 ? 'red once: a second look tells a flake from a failure' : whatIsMerged(snapshot, level);
  const cause = trial.search === null ? again : `looking for the culprit among ${trial.tasks.length} tasks`;
  const gates: Action = { kind: 'run-gates', level, worker, count, commit, cause };
  return start === undefined ? [gates] : [{ kind: 'start-worker', worker, cause: start }, gates];
}

/** Not all tasks need be in it: some may have failed, or wait for the others. */
function whatIsMerged(snapshot: Snapshot, level: number): string {
  const tasks = tasksOf(snapshot, level);
  const done = tasks.filter(({ task }) => task.status === 'complete').length;
  if (done === tasks.length) return 'all tasks of the level are merged';
  return `what is done in the level is merged: ${done} of ${tasks.length} tasks`;
}

function deadlyGates(level: number, losses: number): FinishAction {
  const cause = `the gates of level ${level} have not come to an end ${losses} times: their worker died each time`;
  return { kind: 'finish', status: 'failed', exit: 1, cause, resumeAt: null };
}

function brokenBase(trial: Trial): FinishAction {
  const log = trial.redLog ?? '';
  return {
    kind: 'finish',
    status: 'failed',
    exit: 1,
    cause: `the gates are red already without any task's work: mend the base or the gates first. ${log}`.trim(),
    resumeAt: null,
  };
}

/** The culprit's attempt fails with the gate's log; the others are tried again without it. */
function blame(state: RunState, level: number, trial: Trial, index: number): Action {
  const id = trial.tasks[index] ?? '';
  const attempt = state.tasks[id]?.attempts.at(-1);
  const alone =
    trial.tasks.length === 1 ? '' : `; green with ${index} of ${trial.tasks.length} tasks, red with this one on top`;
  const log = trial.redLog ?? '';
  return record({
    type: 'attempt-failed',
    task: id,
    attempt: attempt?.number ?? 0,
    worker: attempt?.worker ?? 0,
    outcome: 'gate-failed',
    detail: `the gates of level ${level} are red with its work${alone}: ${firstLine(log)}`,
    feedback: `Your work passed its own verification, but on the merged tree:\n${log}`,
    commit: null,
    usage: null,
    charge: 'failure',
    notBefore: null,
  });
}

function finishLevel(snapshot: Snapshot, level: number): Action[] {
  const bad = tasksOf(snapshot, level).filter(({ task }) => task.status === 'failed' || task.status === 'blocked');
  const status = bad.length === 0 ? 'complete' : 'failed';
  const cause = bad.length === 0 ? 'all tasks are merged' : `not done: ${bad.map(({ id }) => id).join(', ')}`;
  return [record({ type: 'level-finished', level, status, cause })];
}

function finishRun(state: RunState): FinishAction {
  const count = (status: TaskState['status']): number =>
    Object.values(state.tasks).filter((task) => task.status === status).length;
  const [done, failed, blocked] = [count('complete'), count('failed'), count('blocked')];
  const all = Object.keys(state.tasks).length;
  if (done === all) {
    return {
      kind: 'finish',
      status: 'complete',
      exit: 0,
      cause: `${done} of ${all} tasks are merged into ${state.integration}`,
      resumeAt: null,
    };
  }
  const cause = `${done} of ${all} tasks are done, ${failed} failed, ${blocked} blocked`;
  return { kind: 'finish', status: 'failed', exit: 1, cause, resumeAt: null };
}

function tasksOf({ state, graph }: Snapshot, level: number): { id: string; task: TaskState }[] {
  return tasksAt(graph, level).flatMap(({ id }) => {
    const task = state.tasks[id];
    return task === undefined ? [] : [{ id, task }];
  });
}

/** No task has such an id: theirs begin with a letter. */
const GATES = '@gates-of-level-';
export const gateAttemptId = (level: number, run: number): string => attemptId(`${GATES}${level}`, run);
export const isGateRun = (work: string | null): boolean => work?.startsWith(GATES) ?? false;
