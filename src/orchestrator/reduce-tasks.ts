import { replaceUsage } from '../protocol/index.ts';
import type { Usage } from '../protocol/index.ts';
import type { AttemptState, RunState } from '../state/index.ts';
import { changeTask, EMPTY_TRIAL, changeTrial, freeWorker, giveWork } from './change-state.ts';
import type { Changes, EventOf } from './change-state.ts';
import { reopenLevel } from './reduce-levels.ts';

/** Attempts are kept in the event log; the snapshot holds the last few, so that it does not grow. */
const KEPT_ATTEMPTS = 10;

type TaskEvent =
  | 'attempt-started'
  | 'attempt-spent'
  | 'attempt-verifying'
  | 'verification-started'
  | 'verification-lost'
  | 'attempt-accepted'
  | 'attempt-failed'
  | 'task-failed'
  | 'task-blocked'
  | 'task-reset'
  | 'task-unmerged';

export const TASK_CHANGES: Changes<TaskEvent> = {
  'attempt-started': attemptStarted,
  'attempt-spent': (state, { task, attempt, usage }) => spend(state, task, attempt, usage),
  'attempt-verifying': attemptVerifying,
  'verification-started': verificationStarted,
  'verification-lost': verificationLost,
  'attempt-accepted': attemptAccepted,
  'attempt-failed': attemptFailed,
  'task-failed': (state, { task, cause }) => changeTask(state, task, { status: 'failed', cause }),
  'task-blocked': (state, { task, cause }) => changeTask(state, task, { status: 'blocked', cause }),
  'task-reset': (state, { task }) => taskReset(state, task),
  'task-unmerged': (state, { task }) =>
    reopenLevel(changeTask(state, task, { merged: false }), state.tasks[task]?.level ?? state.level),
};

function attemptStarted(state: RunState, event: EventOf<'attempt-started'>): RunState {
  const attempt: AttemptState = {
    number: event.attempt,
    worker: event.worker,
    base: event.base,
    verifier: null,
    begun: state.events,
    startedAt: event.at,
    endedAt: null,
    outcome: null,
    detail: null,
    commit: null,
    usage: null,
  };
  const attempts = [...(state.tasks[event.task]?.attempts ?? []), attempt].slice(-KEPT_ATTEMPTS);
  const started = changeTask(state, event.task, { status: 'running', attempts, cause: null, notBefore: null });
  return giveWork(started, event.worker, event.task);
}

function changeAttempt(state: RunState, id: string, number: number, change: Partial<AttemptState>): AttemptState[] {
  const attempts = state.tasks[id]?.attempts ?? [];
  return attempts.map((attempt) => (attempt.number === number ? { ...attempt, ...change } : attempt));
}

/** The worker's part is over when another one verifies its work. */
function attemptVerifying(state: RunState, { task, attempt: number, work }: EventOf<'attempt-verifying'>): RunState {
  const status = 'verifying';
  if (work === undefined) return changeTask(state, task, { status });
  const worker = state.tasks[task]?.attempts.find((attempt) => attempt.number === number)?.worker ?? 0;
  const spent = spend(state, task, number, work.usage);
  const { commit, detail } = work;
  const attempts = changeAttempt(spent, task, number, { commit, detail });
  return freeWorker(changeTask(spent, task, { status, attempts }), worker, task);
}

function verificationStarted(state: RunState, { task, attempt, worker }: EventOf<'verification-started'>): RunState {
  const attempts = changeAttempt(state, task, attempt, { worker, verifier: worker });
  return giveWork(changeTask(state, task, { attempts }), worker, task);
}

function verificationLost(state: RunState, event: EventOf<'verification-lost'>): RunState {
  const { task, attempt: number, charge } = event;
  const known = state.tasks[task];
  const verifier = known?.attempts.find((attempt) => attempt.number === number)?.verifier ?? null;
  if (known === undefined) return state;
  const attempts = changeAttempt(state, task, number, { verifier: null });
  const changed = changeTask(state, task, { attempts, losses: known.losses + (charge === 'loss' ? 1 : 0) });
  return verifier === null ? changed : freeWorker(changed, verifier, task);
}

function attemptAccepted(state: RunState, event: EventOf<'attempt-accepted'>): RunState {
  const { task, attempt: number, commit, detail, usage } = event;
  const spent = spend(state, task, number, usage);
  const attempts = changeAttempt(spent, task, number, { outcome: 'accepted', endedAt: event.at, commit, detail });
  const base = attempts.find((attempt) => attempt.number === number)?.base;
  const accepted = changeTask(spent, task, {
    status: 'complete',
    attempts,
    commit,
    // A check that changed nothing has nothing to merge.
    merged: commit === base,
    backoffs: 0,
    cause: null,
    feedback: null,
  });
  return freeWorker(accepted, event.worker, task);
}

function attemptFailed(state: RunState, event: EventOf<'attempt-failed'>): RunState {
  const { task: id, attempt: number, outcome, detail, commit, usage } = event;
  const spent = spend(state, id, number, usage);
  const task = spent.tasks[id];
  if (task === undefined) return state;
  const before = task.attempts.find((attempt) => attempt.number === number);
  const end = { outcome, endedAt: event.at, detail, commit: commit ?? before?.commit ?? null };
  const failed = changeTask(spent, id, {
    status: 'pending',
    attempts: changeAttempt(spent, id, number, end),
    failures: task.failures + (event.charge === 'failure' ? 1 : 0),
    losses: task.losses + (event.charge === 'loss' ? 1 : 0),
    backoffs: event.charge === 'backoff' ? task.backoffs + 1 : 0,
    commit: null,
    merged: false,
    cause: detail,
    feedback: event.feedback ?? task.feedback,
    notBefore: event.notBefore,
  });
  return freeWorker(dropFromTrial(failed, task.level, id), event.worker, id);
}

/** The task leaves the trial: merges before it stay, merges after it are made anew. */
function dropFromTrial(state: RunState, level: number, task: string): RunState {
  const trial = state.levels[level]?.trial ?? null;
  const index = trial?.tasks.indexOf(task) ?? -1;
  if (trial === null || index < 0) return state;
  return changeTrial(state, level, () => ({
    ...EMPTY_TRIAL,
    tasks: trial.tasks.slice(0, index),
    tips: trial.tips.slice(0, index),
  }));
}

const NEW_TRIES = 'failed tasks have new tries, which --resume begins';

function taskReset(state: RunState, id: string): RunState {
  const task = state.tasks[id];
  if (task === undefined) return state;
  const reset = changeTask(state, id, {
    status: 'pending',
    failures: 0,
    losses: 0,
    backoffs: 0,
    cause: null,
    notBefore: null,
  });
  const over = ['complete', 'failed'].includes(state.levels[task.level]?.status ?? '');
  const open = state.status === 'failed' ? { ...reset, status: 'stopped' as const, cause: NEW_TRIES } : reset;
  return over ? reopenLevel(open, task.level) : open;
}

/**
 * What an attempt has used, in place of what it reported before: the one way in which the sums of a task and of the run
 * change.
 */
function spend(state: RunState, id: string, number: number, usage: Usage | null): RunState {
  const task = state.tasks[id];
  if (usage === null || task === undefined) return state;
  const before = task.attempts.find((attempt) => attempt.number === number)?.usage ?? null;
  const attempts = changeAttempt(state, id, number, { usage });
  const changed = changeTask(state, id, { attempts, cost: replaceUsage(task.cost, before, usage) });
  return { ...changed, cost: replaceUsage(state.cost, before, usage) };
}
