import type { Usage } from '../protocol/index.ts';
import type {
  AttemptState,
  LevelState,
  RecordedEvent,
  RunState,
  TaskState,
  Trial,
  WorkerState,
} from '../state/index.ts';
import { SETTING_UP } from './plan.ts';

/** Attempts and warnings are kept in the event log; the snapshot holds the last few, so that it does not grow. */
const KEPT_ATTEMPTS = 10;
const KEPT_WARNINGS = 50;

/** The state after an event. Nothing else ever changes a run's state. */
export function reduce(state: RunState, event: RecordedEvent): RunState {
  return advance(ownCopy(state), event);
}

/**
 * As `reduce`, for the owner of the state alone: the lists of tasks, workers and levels are changed in place, because a
 * copy of ten thousand tasks per event would cost more than all the rest. What stands in the lists is replaced as a whole.
 */
export function advance(state: RunState, event: RecordedEvent): RunState {
  return { ...change(state, event), updatedAt: event.at, events: state.events + 1 };
}

/** The state after all these events, as a run's journal would have it. */
export function replay(state: RunState, events: readonly RecordedEvent[]): RunState {
  return events.reduce(advance, ownCopy(state));
}

/** A state whose lists belong to the caller. */
export function ownCopy(state: RunState): RunState {
  return { ...state, tasks: { ...state.tasks }, workers: { ...state.workers }, levels: { ...state.levels } };
}

// oxlint-disable-next-line complexity, max-lines-per-function -- one case per event, each a line or two
function change(state: RunState, event: RecordedEvent): RunState {
  switch (event.type) {
    case 'run-started':
      return state;
    case 'run-resumed':
      return runResumed(state, event);
    case 'run-finished':
      return { ...state, status: event.status, cause: event.cause, resumeAt: event.resumeAt };
    case 'warning':
      return { ...state, warnings: [...state.warnings, event.text].slice(-KEPT_WARNINGS) };
    case 'worker-starting':
      return withWorker(state, event.worker, {
        status: 'STARTING',
        mode: event.mode,
        session: event.session,
        task: null,
        heartbeatAt: null,
        branch: event.branch,
        worktree: event.worktree,
        pid: null,
        containerId: null,
        handle: null,
        startedAt: event.at,
        cause: null,
        trouble: null,
        toldTroubles: [],
      });
    case 'worker-started':
      return workerStarted(state, event);
    case 'worker-phase':
      return {
        ...changeWorker(state, event.worker, {
          status: event.phase === 'idle' ? 'IDLE' : 'RUNNING',
          cause: event.phase === 'setup' ? SETTING_UP : null,
        }),
        startFailures: 0,
      };
    case 'worker-kept':
      return state;
    case 'worker-trouble':
      return changeWorker(state, event.worker, {
        trouble: event.text,
        toldTroubles: [...(state.workers[event.worker]?.toldTroubles ?? []), event.text],
      });
    case 'worker-recovered':
      return changeWorker(state, event.worker, { trouble: null });
    case 'worker-exited':
      return workerExited(state, event);
    case 'level-started':
      return changeLevel(state, event.level, { status: 'running', base: event.base, startedAt: event.at }, event.level);
    case 'attempt-started':
      return attemptStarted(state, event);
    case 'attempt-verifying':
      return changeTask(state, event.task, { status: 'verifying' });
    case 'attempt-accepted':
      return attemptAccepted(state, event);
    case 'attempt-failed':
      return attemptFailed(state, event);
    case 'task-failed':
      return changeTask(state, event.task, { status: 'failed', cause: event.cause });
    case 'task-blocked':
      return changeTask(state, event.task, { status: 'blocked', cause: event.cause });
    case 'task-reset':
      return taskReset(state, event.task);
    case 'task-merged':
      return changeTrial(state, event.level, (trial) => ({
        ...trial,
        tasks: [...trial.tasks, event.task],
        tips: [...trial.tips, event.tip],
        green: false,
      }));
    case 'task-unmerged':
      return reopenLevel(
        changeTask(state, event.task, { merged: false }),
        state.tasks[event.task]?.level ?? state.level,
      );
    case 'trial-dropped':
      return changeLevel(state, event.level, { trial: null });
    case 'gates-started':
      return gatesStarted(state, event);
    case 'gates-passed':
      return gatesPassed(state, event);
    case 'gates-failed':
      return gatesFailed(state, event);
    case 'gates-lost':
      return gatesLost(state, event.level);
    case 'level-published':
      return levelPublished(state, event);
    case 'level-finished':
      return changeLevel(state, event.level, { status: event.status, completedAt: event.at });
  }
}

type EventOf<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { type: Type }>;

/**
 * A worker that had not got ready when its orchestrator died is no start failure of the next one. Gates, or what they
 * need on the machine, may have been mended meanwhile: what they said before, or are about to say, counts no more.
 */
function runResumed(state: RunState, { settings }: EventOf<'run-resumed'>): RunState {
  const workers = Object.entries(state.workers).map(([key, worker]): [string, WorkerState] => [
    key,
    worker.status === 'STARTING' ? { ...worker, status: 'RUNNING' } : worker,
  ]);
  const levels = Object.entries(state.levels).map(([level, now]): [string, LevelState] => {
    const trial = now.trial === null ? null : { ...EMPTY_TRIAL, tasks: now.trial.tasks, tips: now.trial.tips };
    return [level, { ...now, trial, gateRun: null, gateLosses: 0 }];
  });
  const resumed = { status: 'running', cause: null, resumeAt: null, startFailures: 0, settings } as const;
  return { ...state, ...resumed, workers: Object.fromEntries(workers), levels: Object.fromEntries(levels) };
}

function withWorker(state: RunState, worker: number, value: WorkerState): RunState {
  state.workers[worker] = value;
  return state;
}

function changeWorker(state: RunState, worker: number, change: Partial<WorkerState>): RunState {
  const now = state.workers[worker];
  return now === undefined ? state : withWorker(state, worker, { ...now, ...change });
}

function changeTask(state: RunState, id: string, change: Partial<TaskState>): RunState {
  const now = state.tasks[id];
  if (now !== undefined) state.tasks[id] = { ...now, ...change };
  return state;
}

function changeLevel(state: RunState, level: number, change: Partial<LevelState>, current = state.level): RunState {
  const now = state.levels[level];
  if (now === undefined) return state;
  state.levels[level] = { ...now, ...change };
  return { ...state, level: current };
}

const EMPTY_TRIAL: Trial = { tasks: [], tips: [], green: false, reds: 0, search: null, redLog: null };

function changeTrial(state: RunState, level: number, change: (trial: Trial) => Trial | null): RunState {
  return changeLevel(state, level, { trial: change(state.levels[level]?.trial ?? EMPTY_TRIAL) });
}

/** Of a life that is over already it says nothing about the one that came after it. */
function workerStarted(state: RunState, event: EventOf<'worker-started'>): RunState {
  const { worker, session, pid, containerId, handle } = event;
  return state.workers[worker]?.session === session ? changeWorker(state, worker, { pid, containerId, handle }) : state;
}

function workerExited(state: RunState, event: EventOf<'worker-exited'>): RunState {
  const early = state.workers[event.worker]?.status === 'STARTING' && !event.expected;
  const status = event.expected ? 'STOPPED' : 'CRASHED';
  return {
    ...changeWorker(state, event.worker, { status, task: null, cause: event.cause, trouble: null }),
    startFailures: state.startFailures + (early ? 1 : 0),
  };
}

function attemptStarted(state: RunState, event: EventOf<'attempt-started'>): RunState {
  const attempt: AttemptState = {
    number: event.attempt,
    worker: event.worker,
    base: event.base,
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
  return changeWorker(started, event.worker, { task: event.task });
}

function endAttempt(state: RunState, id: string, number: number, end: Partial<AttemptState>): AttemptState[] {
  const attempts = state.tasks[id]?.attempts ?? [];
  return attempts.map((attempt) => (attempt.number === number ? { ...attempt, ...end } : attempt));
}

/** The worker is free again, unless it has meanwhile been given something else. */
function freeWorker(state: RunState, worker: number, task: string): RunState {
  return state.workers[worker]?.task === task ? changeWorker(state, worker, { task: null, trouble: null }) : state;
}

function attemptAccepted(state: RunState, event: EventOf<'attempt-accepted'>): RunState {
  const { task, attempt: number, commit, detail, usage } = event;
  const attempts = endAttempt(state, task, number, { outcome: 'accepted', endedAt: event.at, commit, detail, usage });
  const base = attempts.find((attempt) => attempt.number === number)?.base;
  const accepted = changeTask(state, task, {
    status: 'complete',
    attempts,
    commit,
    // A check that changed nothing has nothing to merge.
    merged: commit === base,
    backoffs: 0,
    cause: null,
    feedback: null,
  });
  return addCost(freeWorker(accepted, event.worker, task), usage);
}

function attemptFailed(state: RunState, event: EventOf<'attempt-failed'>): RunState {
  const { task: id, attempt: number, outcome, detail, commit, usage } = event;
  const task = state.tasks[id];
  if (task === undefined) return state;
  const before = task.attempts.find((attempt) => attempt.number === number);
  const end = {
    outcome,
    endedAt: event.at,
    detail,
    commit: commit ?? before?.commit ?? null,
    usage: usage ?? before?.usage ?? null,
  };
  const failed = changeTask(state, id, {
    status: 'pending',
    attempts: endAttempt(state, id, number, end),
    failures: task.failures + (event.charge === 'failure' ? 1 : 0),
    losses: task.losses + (event.charge === 'loss' ? 1 : 0),
    backoffs: event.charge === 'backoff' ? task.backoffs + 1 : 0,
    commit: null,
    merged: false,
    cause: detail,
    feedback: event.feedback ?? task.feedback,
    notBefore: event.notBefore,
  });
  const freed = freeWorker(dropFromTrial(failed, task.level, id), event.worker, id);
  return before?.usage === null || before === undefined ? addCost(freed, usage) : freed;
}

/** A culprit leaves the trial; what was merged before it stays, what came after is merged anew. */
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
  return over ? reopenLevel(reset, task.level) : reset;
}

/** What later levels have merged does not contain what this one will publish: it is merged anew when their turn comes. */
export function reopenLevel(state: RunState, level: number): RunState {
  const levels = Object.entries(state.levels).map(([key, now]): [string, LevelState] => {
    if (Number(key) === level) return [key, { ...now, status: 'pending', completedAt: null }];
    return [key, Number(key) > level ? { ...now, trial: null } : now];
  });
  return { ...state, level: Math.min(state.level, level), levels: Object.fromEntries(levels) };
}

function gatesStarted(state: RunState, event: EventOf<'gates-started'>): RunState {
  const { attempt, worker, commit, count } = event;
  const runs = (state.levels[event.level]?.gateRuns ?? 0) + 1;
  const started = changeLevel(state, event.level, {
    status: 'gating',
    gateRun: { attempt, worker, commit, count },
    gateRuns: runs,
  });
  return changeWorker(started, worker, { task: attempt });
}

function freeWorkerOfGate(state: RunState, level: number): RunState {
  const gateRun = state.levels[level]?.gateRun ?? null;
  const freed = gateRun === null ? state : freeWorker(state, gateRun.worker, gateRun.attempt);
  return changeLevel(freed, level, { gateRun: null });
}

function gatesLost(state: RunState, level: number): RunState {
  const losses = (state.levels[level]?.gateLosses ?? 0) + 1;
  return changeLevel(freeWorkerOfGate(state, level), level, { gateLosses: losses });
}

function gatesPassed(state: RunState, event: EventOf<'gates-passed'>): RunState {
  return gatesAnswered(state, event, (trial) =>
    trial.search === null ? { ...trial, green: true } : { ...trial, search: { ...trial.search, good: event.count } },
  );
}

/** An answer counts for the commit that was asked about: the whole trial, or the part that is searched. */
function gatesAnswered(
  state: RunState,
  { level, attempt, count, gates }: EventOf<'gates-passed'> | EventOf<'gates-failed'>,
  change: (trial: Trial) => Trial,
): RunState {
  const { gateRun = null, trial = null } = state.levels[level] ?? {};
  const told = changeLevel(freeWorkerOfGate(state, level), level, { gates: [...gates], gateLosses: 0 });
  if (trial === null || gateRun?.attempt !== attempt) return told;
  const commit = count === 0 ? state.integrationTip : trial.tips[count - 1];
  const whole = trial.search !== null || count === trial.tasks.length;
  return commit === gateRun.commit && whole ? changeTrial(told, level, change) : told;
}

function gatesFailed(state: RunState, event: EventOf<'gates-failed'>): RunState {
  // Published work has passed the gates; the run's own base has not been asked yet.
  const good = state.integrationTip === state.base ? -1 : 0;
  return gatesAnswered(state, event, (trial) => {
    if (trial.search !== null) return { ...trial, search: { ...trial.search, bad: event.count }, redLog: event.log };
    const reds = trial.reds + 1;
    const search = reds < 2 ? null : { good, bad: trial.tasks.length };
    return { ...trial, reds, search, redLog: event.log };
  });
}

function levelPublished(state: RunState, event: EventOf<'level-published'>): RunState {
  for (const id of event.tasks) changeTask(state, id, { merged: true });
  return changeLevel({ ...state, integrationTip: event.tip }, event.level, {
    base: event.tip,
    trial: null,
    status: 'running',
  });
}

function addCost(state: RunState, usage: Usage | null): RunState {
  if (usage === null) return state;
  const { cost } = state;
  return {
    ...state,
    cost: {
      inputTokens: cost.inputTokens + usage.inputTokens,
      outputTokens: cost.outputTokens + usage.outputTokens,
      cacheReadTokens: cost.cacheReadTokens + usage.cacheReadTokens,
      cacheWriteTokens: cost.cacheWriteTokens + usage.cacheWriteTokens,
      costUsd: cost.costUsd + usage.costUsd,
    },
  };
}
