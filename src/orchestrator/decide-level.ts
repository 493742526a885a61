import type { RunState, TaskState, Trial } from '../state/index.ts';
import { runTrialGates } from './decide-gates.ts';
import { finishWith, record } from './plan.ts';
import type { Action, FinishAction, Snapshot } from './plan.ts';
import { currentLevel, heldBack, survey, tasksOf } from './survey.ts';

/** The merges of one action are recorded together, so a kill loses all of them. */
const MERGES_AT_ONCE = 16;

export function openLevel(snapshot: Snapshot): Action[] {
  const level = currentLevel(snapshot);
  if (level === undefined) return [finishRun(snapshot.state)];
  if (snapshot.state.levels[level]?.status !== 'pending') return [];
  const tasks = tasksOf(snapshot, level).filter(({ task }) => task.status !== 'blocked').length;
  return [record({ type: 'level-started', level, base: snapshot.state.integrationTip, tasks })];
}

/** Merges what is accepted, also while other tasks are under way. When none is left: gates, publish, next level. */
export function closeLevel(snapshot: Snapshot): Action[] {
  const level = currentLevel(snapshot);
  const now = level === undefined ? undefined : snapshot.state.levels[level];
  if (level === undefined || now === undefined || now.gateRun !== null || snapshot.merging) return [];
  const { trial } = now;
  const { pending, underWay, unpublished } = survey(snapshot);
  const isOfLevel = ({ task }: { task: TaskState }): boolean => task.level === level;
  const tried = triedIn(trial?.tasks ?? []);
  const unmerged = unpublished.filter((seen) => isOfLevel(seen) && !tried.has(seen.id));
  if (unmerged.length > 0) {
    const tasks = unmerged.slice(0, MERGES_AT_ONCE).map(({ id }) => id);
    return [{ kind: 'merge-tasks', level, tasks, cause: 'accepted' }];
  }
  const held = heldBack(snapshot, level);
  if (underWay.some(isOfLevel) || pending.some((seen) => isOfLevel(seen) && !held(seen.task))) return [];
  if (trial === null || trial.tasks.length === 0) return [finishLevel(snapshot, level)];
  return publishOrTry(snapshot, level, trial);
}

function publishOrTry(snapshot: Snapshot, level: number, trial: Trial): Action[] {
  const { integrationTip, settings } = snapshot.state;
  const gated = settings.gates.length > 0;
  if (gated && !trial.green) return runTrialGates(snapshot, level, trial);
  const cause = gated ? 'all required gates are green' : 'no gates are configured';
  return [{ kind: 'publish', level, tip: trial.tips.at(-1) ?? integrationTip, cause }];
}

const TRIED = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Each turn asks which tasks are in the trial; the set is made anew only when the list is replaced. */
function triedIn(tasks: readonly string[]): ReadonlySet<string> {
  const tried = TRIED.get(tasks) ?? new Set(tasks);
  TRIED.set(tasks, tried);
  return tried;
}

function finishLevel(snapshot: Snapshot, level: number): Action {
  const bad = tasksOf(snapshot, level).filter(({ task }) => task.status === 'failed' || task.status === 'blocked');
  const status = bad.length === 0 ? 'complete' : 'failed';
  const cause = bad.length === 0 ? 'all tasks are merged' : `not done: ${bad.map(({ id }) => id).join(', ')}`;
  return record({ type: 'level-finished', level, status, cause });
}

function finishRun({ tasks, integration }: RunState): FinishAction {
  const all = Object.values(tasks);
  const count = (status: TaskState['status']): number => all.filter((task) => task.status === status).length;
  const done = `${count('complete')} of ${all.length} tasks are`;
  if (count('complete') === all.length) return finishWith('complete', 0, `${done} merged into ${integration}`);
  return finishWith('failed', 1, `${done} done, ${count('failed')} failed, ${count('blocked')} blocked`);
}
