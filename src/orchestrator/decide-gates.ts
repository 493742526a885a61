import { counted, firstLine } from '../lib/text/words.ts';
import type { GateReport, GateResult, GateSpec } from '../protocol/index.ts';
import type { GateRun, RunState, Trial } from '../state/index.ts';
import { findWorker } from './decide-assignment.ts';
import { endOf } from './decide-losses.ts';
import { attemptFailed, finishWith, record, workerExited } from './plan.ts';
import type { Action, FinishAction, Snapshot } from './plan.ts';
import { tasksOf } from './survey.ts';

interface GateWork {
  readonly level: number;
  readonly worker: number;
  readonly count: number;
  readonly gates: readonly GateSpec[];
  /** With so many more gate runs that come to no end, the run has failed. */
  readonly lossesLeft: number;
  /** Its worker is gone already. */
  readonly singleUse: boolean;
}

/** A gate run that is under way: has it ended? */
export function settleGates(snapshot: Snapshot): Action[] {
  const { state, workers, policy } = snapshot;
  const { gates } = state.settings;
  return Object.entries(state.levels).flatMap(([key, { gateRun, gateLosses }]) => {
    if (gateRun === null) return [];
    const { attempt, worker, count } = gateRun;
    const level = Number(key);
    const view = workers.get(worker);
    if (view?.result?.kind === 'gate' && view.result.attempt === attempt)
      return judgeGates(
        { level, worker, count, gates, lossesLeft: policy.losses - gateLosses, singleUse: policy.singleUse },
        view.result,
      );
    const failure = view?.setupFailure ?? null;
    if (view?.alive || (failure !== null && !isAtTrial(state, worker))) return [];
    if (failure !== null && snapshot.stop === null) return notSetUp(level, gateRun, failure);
    const cause = `worker ${worker} died: ${endOf(snapshot, worker)}`;
    return [
      record({ type: 'gates-lost', level, attempt, cause }),
      ...(failure === null ? [] : [workerExited(worker, true, cause)]),
    ];
  });
}

/** Whether this worker runs gates on work that is not published: what fails there may be the work's fault. */
export function isAtTrial({ levels, integrationTip }: RunState, worker: number): boolean {
  return Object.values(levels).some(({ gateRun }) => gateRun?.worker === worker && gateRun.commit !== integrationTip);
}

/** A set-up that fails on a trial is red as a gate is, so that the task is found with which it begins to fail. */
function notSetUp(level: number, { attempt, worker, count }: GateRun, log: string): Action[] {
  const detail = firstLine(log);
  const gates = [{ name: 'set-up', ok: false, required: true, detail }];
  return [record({ type: 'gates-failed', level, attempt, count, gates, log }), workerExited(worker, true, detail)];
}

function judgeGates(work: GateWork, result: GateResult): Action[] {
  const { level, worker, count, gates } = work;
  const { attempt, error } = result;
  if (error === 'stopped') return [record({ type: 'gates-lost', level, attempt, cause: 'stopped' })];
  // No gate has failed: git or our own preparation has. Another worker may be able to run them.
  if (error !== null) return gatesNotRun(work, attempt, `worker ${worker} could not run them: ${error}`);
  const reports = answersTo(gates, result.gates);
  if (reports === undefined) return gatesNotRun(work, attempt, `worker ${worker} did not answer for each gate`);
  const summaries = reports.map(({ name, ok, required, detail }) => ({ name, ok, required, detail }));
  const red = reports.filter(({ ok }) => !ok);
  if (red.some(({ required }) => required)) {
    const log = red.map(({ name, detail, output }) => `gate ${name} failed: ${detail}\n${output}`).join('\n');
    return [record({ type: 'gates-failed', level, attempt, count, gates: summaries, log })];
  }
  const warnings = red.map(({ name, detail }) =>
    record({ type: 'warning', text: `gate ${name} (not required) is red after level ${level}: ${detail}` }),
  );
  return [record({ type: 'gates-passed', level, attempt, count, gates: summaries }), ...warnings];
}

function gatesNotRun({ level, worker, lossesLeft, singleUse }: GateWork, attempt: string, cause: string): Action[] {
  const lost = record({ type: 'gates-lost', level, attempt, cause });
  if (lossesLeft <= 1) return [lost, gatesNeverEnd(level, cause)];
  return singleUse ? [lost] : [lost, { kind: 'kill-worker', worker, cause: firstLine(cause) }];
}

/** One report for each gate, in order, up to the first required one that is red. Our settings say which are required, not the worker. */
function answersTo(gates: readonly GateSpec[], reports: readonly GateReport[]): GateReport[] | undefined {
  const known = reports.map((report, index) => ({ ...report, required: gates[index]?.required ?? true }));
  const ended = known.at(-1);
  const complete = known.length === gates.length || (ended !== undefined && ended.required && !ended.ok);
  return complete && known.every(({ name }, index) => name === gates[index]?.name) ? known : undefined;
}

/** Runs the gates. When they are red twice: first without the trial, then by halves up to the task with which they turn red. */
export function runTrialGates(snapshot: Snapshot, level: number, trial: Trial): Action[] {
  const { tasks, search } = trial;
  if (search === null) return runGates(snapshot, level, trial, tasks.length);
  if (search.bad === 0) return [redWithoutTasks(snapshot.state, level, trial)];
  if (search.good < 0) return runGates(snapshot, level, trial, 0);
  if (search.bad - search.good > 1) return runGates(snapshot, level, trial, Math.floor((search.good + search.bad) / 2));
  return failCulprit(snapshot.state, level, trial, search.bad - 1);
}

function runGates(snapshot: Snapshot, level: number, trial: Trial, count: number): Action[] {
  const { gateLosses = 0 } = snapshot.state.levels[level] ?? {};
  if (gateLosses >= snapshot.policy.losses) return [gatesNeverEnd(level, 'the last worker died')];
  const { worker, start } = findWorker(snapshot, new Set());
  if (worker === undefined) return [];
  const commit = trial.tips[count - 1] ?? snapshot.state.integrationTip;
  const gates: Action = { kind: 'run-gates', level, worker, count, commit, cause: whyGates(snapshot, level, trial) };
  return start === undefined ? [gates] : [{ kind: 'start-worker', worker, base: commit, cause: start }, gates];
}

/** Not all tasks need be in the trial: some may have failed, or wait for the others. */
function whyGates(snapshot: Snapshot, level: number, { tasks, search, reds }: Trial): string {
  if (search !== null) return `looking for the culprit among ${counted(tasks.length, 'task')}`;
  if (reds > 0) return 'red once: a second look tells a flake from a failure';
  const all = tasksOf(snapshot, level);
  const done = all.filter(({ task }) => task.status === 'complete').length;
  if (done === all.length) return 'all tasks of the level are merged';
  return `what is done in the level is merged: ${done} of ${all.length} tasks`;
}

function gatesNeverEnd(level: number, last: string): FinishAction {
  const cause = `the gates of level ${level} have come to no end so often that they are given up: ${last}`;
  return finishWith('failed', 1, cause);
}

function redWithoutTasks({ base, integrationTip }: RunState, level: number, { redLog }: Trial): FinishAction {
  const without =
    integrationTip === base
      ? "without any task's work: mend the base or the gates first"
      : `on what is published, without the work of level ${level}: mend the gates, or what they need, first`;
  return finishWith('failed', 1, `the gates are red already ${without}. ${redLog ?? ''}`.trim());
}

/** The culprit's attempt fails with the gate's log; the others are tried again without it. */
function failCulprit(state: RunState, level: number, { tasks, redLog }: Trial, index: number): Action[] {
  const id = tasks[index] ?? '';
  const attempt = state.tasks[id]?.attempts.at(-1);
  if (attempt === undefined) return [];
  const alone = tasks.length === 1 ? '' : `; green with ${index} of ${tasks.length} tasks, red with this one on top`;
  const log = redLog ?? '';
  const end = attemptFailed(id, attempt, {
    outcome: 'gate-failed',
    detail: `the gates of level ${level} are red with its work${alone}: ${firstLine(log)}`,
    feedback: `Your work passed its own verification, but on the merged tree:\n${log}`,
    charge: 'failure',
  });
  return [end];
}
