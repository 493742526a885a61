import type { LevelState, RecordedEvent, RunState, TaskState, Trial, WorkerState } from '../state/index.ts';

/** What each event changes. The lists of the state belong to the caller: they are changed in place, their entries are replaced. */
export type Changes<Type extends RecordedEvent['type']> = {
  readonly [Each in Type]: (state: RunState, event: EventOf<Each>) => RunState;
};

export type EventOf<Type extends RecordedEvent['type']> = Extract<RecordedEvent, { type: Type }>;

export const EMPTY_TRIAL: Trial = { tasks: [], tips: [], green: false, reds: 0, search: null, redLog: null };

export function withWorker(state: RunState, worker: number, value: WorkerState): RunState {
  state.workers[worker] = value;
  return state;
}

export function changeWorker(state: RunState, worker: number, change: Partial<WorkerState>): RunState {
  const now = state.workers[worker];
  return now === undefined ? state : withWorker(state, worker, { ...now, ...change });
}

/** The worker is at this task, or gate run, from now on. */
export function giveWork(state: RunState, worker: number, task: string): RunState {
  return changeWorker(state, worker, { task, toldPhases: 0 });
}

/** Frees the worker, unless it has other work by now. */
export function freeWorker(state: RunState, worker: number, task: string): RunState {
  return state.workers[worker]?.task === task ? changeWorker(state, worker, { task: null, trouble: null }) : state;
}

export function changeTask(state: RunState, id: string, change: Partial<TaskState>): RunState {
  const now = state.tasks[id];
  if (now !== undefined) state.tasks[id] = { ...now, ...change };
  return state;
}

export function changeLevel(
  state: RunState,
  level: number,
  change: Partial<LevelState>,
  current = state.level,
): RunState {
  const now = state.levels[level];
  if (now === undefined) return state;
  state.levels[level] = { ...now, ...change };
  return { ...state, level: current };
}

export function changeTrial(state: RunState, level: number, change: (trial: Trial) => Trial | null): RunState {
  return changeLevel(state, level, { trial: change(state.levels[level]?.trial ?? EMPTY_TRIAL) });
}
