import { inDollars } from '../lib/text/amounts.ts';
import type { Usage } from '../protocol/index.ts';
import type { AttemptCharge, AttemptOutcome, AttemptState, Caps, RunState, TaskState } from '../state/index.ts';
import { DONE, finishWith, hasWork, record } from './plan.ts';
import type { ActionOf, FinishAction, Snapshot, WorkerView } from './plan.ts';
import { asksAgent, currentLevel, survey } from './survey.ts';

/**
 * What an attempt costs is recorded in steps: an event for each answer of a model would fill the log. The steps grow, so
 * that a task that makes its worker report any number cannot fill it either.
 */
const STEP_USD = 0.05;
const STEP_PART = 0.02;

/** Why no agent may work any more; undefined while the run may cost more. */
export function overRunCap({ cost, settings }: RunState): string | undefined {
  const cap = settings.caps.run?.usd;
  if (cap === undefined || cost.costUsd === null || cost.costUsd < cap) return undefined;
  return `cost ${inDollars(cost.costUsd)}, cap ${inDollars(cap)}`;
}

/** Why no agent may work on the task any more. All its attempts count. */
export function overTaskCap({ settings }: RunState, { cost }: TaskState): string | undefined {
  const cap = settings.caps.task?.usd;
  if (cap === undefined || cost.costUsd === null || cost.costUsd < cap) return undefined;
  return `cost ${inDollars(cost.costUsd)}, cap for one task ${inDollars(cap)}`;
}

interface AtWork {
  readonly id: string;
  readonly task: TaskState;
  readonly attempt: AttemptState;
  readonly view: WorkerView;
}

/** Attempts that have not reported their end. */
function atWork(snapshot: Snapshot): AtWork[] {
  return survey(snapshot).underWay.flatMap(({ id, task }) => {
    const attempt = task.attempts.at(-1);
    if (attempt === undefined || hasWork(attempt)) return [];
    const view = snapshot.workers.get(attempt.worker);
    const isOver = view === undefined || view.claim !== null || view.result !== null || view.examining;
    return isOver ? [] : [{ id, task, attempt, view }];
  });
}

/** What agents have used so far; all of it when that reaches a cap. */
export function recordSpending(snapshot: Snapshot): ActionOf<'record'>[] {
  const { state } = snapshot;
  const rises = atWork(snapshot).map((work) => ({ ...work, rise: riseOf(work) }));
  const { run, task: ofTask } = state.settings.caps;
  const ofAll = rises.reduce((sum, { rise }) => sum + Math.max(0, rise), 0);
  return rises.flatMap(({ id, task, attempt, view, rise }) => {
    const known = attempt.usage?.costUsd ?? 0;
    const isStep = attempt.usage === null || rise >= Math.max(STEP_USD, known * STEP_PART);
    const reaches = passes(run, state.cost, ofAll) || passes(ofTask, task.cost, rise);
    if (view.usage === null || !(isStep || (reaches && rise > 0))) return [];
    return [record({ type: 'attempt-spent', task: id, attempt: attempt.number, usage: view.usage })];
  });
}

/** In US dollars, since it was recorded last. That it falls is not believed before the attempt is over. */
function riseOf({ attempt, view }: AtWork): number {
  return view.usage === null ? 0 : (view.usage.costUsd ?? 0) - (attempt.usage?.costUsd ?? 0);
}

function passes(cap: Caps['run'], { costUsd }: Usage, rise: number): boolean {
  const known = costUsd ?? 0;
  return cap !== null && known < cap.usd && known + rise >= cap.usd;
}

/** Ends agents for which no more money may be spent; they save their work. What costs nothing goes on. */
export function stopOverCost(snapshot: Snapshot): ActionOf<'retire-worker'>[] {
  const { state, graph } = snapshot;
  const ofRun = overRunCap(state);
  return atWork(snapshot).flatMap(({ id, task, attempt, view }) => {
    const cause = overTaskCap(state, task) ?? ofRun;
    if (cause === undefined || !view.alive || view.retired !== null) return [];
    // Its agent is done.
    if (view.phase === 'verifying' || !asksAgent({ state, graph }, id)) return [];
    return [{ kind: 'retire-worker', worker: attempt.worker, grace: true, cause }];
  });
}

/** How an attempt counts that was ended because of its cost; undefined when it was not. */
export function endedForCost(
  { state, workers }: Pick<Snapshot, 'state' | 'workers'>,
  { task, attempt }: Pick<AtWork, 'task' | 'attempt'>,
): { outcome: AttemptOutcome; detail: string; charge: AttemptCharge } | undefined {
  const retired = workers.get(attempt.worker)?.retired ?? null;
  if (retired === null || retired === DONE) return undefined;
  const ofTask = overTaskCap(state, task);
  if (ofTask !== undefined) return { outcome: 'over-cost', detail: ofTask, charge: 'failure' };
  return { outcome: 'interrupted', detail: `stopped before it was done: ${retired}`, charge: 'nothing' };
}

/** Pauses the run when only agents could go on. What was verified is merged by then. */
export function pauseOverCost(snapshot: Snapshot): FinishAction[] {
  const { state, graph, merging, workers } = snapshot;
  const cause = overRunCap(state);
  const level = currentLevel(snapshot);
  const { pending, underWay } = survey(snapshot);
  if (cause === undefined || level === undefined || merging || underWay.length > 0) return [];
  const isEnding = [...workers.values()].some(({ alive, retired }) => alive && retired !== null);
  if (isEnding || state.levels[level]?.gateRun != null) return [];
  const isLeft = pending.some(({ id, task }) => task.level === level && asksAgent({ state, graph }, id));
  return isLeft ? [finishWith('paused', 3, cause)] : [];
}

/** A task that has cost all that it may gets no further attempt. */
export function tooDear(snapshot: Snapshot, id: string): string | undefined {
  const task = snapshot.state.tasks[id];
  return task === undefined || !asksAgent(snapshot, id) ? undefined : overTaskCap(snapshot.state, task);
}
