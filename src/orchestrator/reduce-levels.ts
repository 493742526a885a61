import type { LevelState, RunState, Trial } from '../state/index.ts';
import { changeLevel, changeTask, changeTrial, freeWorker, giveWork } from './change-state.ts';
import type { Changes, EventOf } from './change-state.ts';

type LevelEvent =
  | 'level-started'
  | 'task-merged'
  | 'trial-dropped'
  | 'gates-started'
  | 'gates-passed'
  | 'gates-failed'
  | 'gates-lost'
  | 'level-published'
  | 'level-finished'
  | 'branch-taken-back';

export const LEVEL_CHANGES: Changes<LevelEvent> = {
  'level-started': (state, { level, base, at }) =>
    changeLevel(state, level, { status: 'running', base, startedAt: at }, level),
  'task-merged': (state, { level, task, tip }) =>
    changeTrial(state, level, (trial) => ({
      ...trial,
      tasks: [...trial.tasks, task],
      tips: [...trial.tips, tip],
      green: false,
    })),
  'trial-dropped': (state, { level }) => changeLevel(state, level, { trial: null }),
  'gates-started': gatesStarted,
  'gates-passed': gatesPassed,
  'gates-failed': gatesFailed,
  'gates-lost': (state, { level }) => gatesLost(state, level),
  'level-published': levelPublished,
  'level-finished': (state, { level, status, at }) => changeLevel(state, level, { status, completedAt: at }),
  'branch-taken-back': branchTakenBack,
};

/** The trials of later levels do not contain what this level will publish: they are dropped, and merged anew later. */
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
    gateRun: { attempt, worker, commit, count, startedAt: event.at },
    gateRuns: runs,
  });
  return giveWork(started, worker, attempt);
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
  return gatesEnded(state, event, (trial) =>
    trial.search === null ? { ...trial, green: true } : { ...trial, search: { ...trial.search, good: event.count } },
  );
}

/** A result of gates counts only for the commit on which they ran: the whole trial, or the part that is searched. */
function gatesEnded(
  state: RunState,
  { level, attempt, count, gates }: EventOf<'gates-passed'> | EventOf<'gates-failed'>,
  change: (trial: Trial) => Trial,
): RunState {
  const { gateRun = null, trial = null } = state.levels[level] ?? {};
  const ended = changeLevel(freeWorkerOfGate(state, level), level, { gates: [...gates], gateLosses: 0 });
  if (trial === null || gateRun?.attempt !== attempt) return ended;
  const commit = count === 0 ? state.integrationTip : trial.tips[count - 1];
  const whole = trial.search !== null || count === trial.tasks.length;
  return commit === gateRun.commit && whole ? changeTrial(ended, level, change) : ended;
}

function gatesFailed(state: RunState, event: EventOf<'gates-failed'>): RunState {
  return gatesEnded(state, event, (trial) => {
    if (trial.search !== null) return { ...trial, search: { ...trial.search, bad: event.count }, redLog: event.log };
    const reds = trial.reds + 1;
    // Published work has passed the gates, but these may be others, and may fail of something outside the repository.
    const search = reds < 2 ? null : { good: -1, bad: trial.tasks.length };
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

/** The levels whose work was taken back are open again by now. Nothing of the old branch may be built on. */
function branchTakenBack(state: RunState, { to }: EventOf<'branch-taken-back'>): RunState {
  const levels = Object.entries(state.levels).map(([key, now]): [string, LevelState] => {
    const base = Number(key) < state.level ? now.base : Number(key) === state.level ? to : null;
    return [key, { ...now, base, trial: null }];
  });
  return { ...state, integrationTip: to, levels: Object.fromEntries(levels) };
}
