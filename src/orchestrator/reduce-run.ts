import type { LevelState, RunState, WorkerState } from '../state/index.ts';
import { EMPTY_TRIAL } from './change-state.ts';
import type { Changes, EventOf } from './change-state.ts';

/** Warnings are kept in the event log; the snapshot holds the last few, so that it does not grow. */
const KEPT_WARNINGS = 50;

export const RUN_CHANGES: Changes<
  'run-started' | 'run-resumed' | 'run-finished' | 'snapshot-begun' | 'snapshot-made' | 'warning'
> = {
  'run-started': (state) => state,
  'snapshot-begun': (state) => state,
  'snapshot-made': (state) => state,
  'run-resumed': runResumed,
  'run-finished': (state, { status, cause, resumeAt, at }) => ({
    ...state,
    status,
    cause,
    resumeAt,
    drivenMs: workedMs(state, Date.parse(at)),
    drivenSince: null,
  }),
  warning: (state, { text }) => ({ ...state, warnings: [...state.warnings, text].slice(-KEPT_WARNINGS) }),
};

/**
 * A worker that was not ready when its orchestrator died is no start failure for the next orchestrator. Gates may have been
 * edited meanwhile: earlier results, and those of a gate run under way, no longer count.
 */
function runResumed(state: RunState, { settings, at }: EventOf<'run-resumed'>): RunState {
  const workers = Object.entries(state.workers).map(([key, worker]): [string, WorkerState] => [
    key,
    worker.status === 'STARTING' ? { ...worker, status: 'RUNNING' } : worker,
  ]);
  const levels = Object.entries(state.levels).map(([level, now]): [string, LevelState] => {
    const trial = now.trial === null ? null : { ...EMPTY_TRIAL, tasks: now.trial.tasks, tips: now.trial.tips };
    return [level, { ...now, trial, gateRun: null, gateLosses: 0 }];
  });
  const resumed = { status: 'running', cause: null, resumeAt: null, startFailures: 0, settings } as const;
  // An orchestrator that was killed drove the run until its last event.
  const driven = { drivenMs: workedMs(state, Date.parse(state.updatedAt)), drivenSince: at };
  return { ...state, ...resumed, ...driven, workers: Object.fromEntries(workers), levels: Object.fromEntries(levels) };
}

/**
 * Pure. How long a run has taken: the time in which an orchestrator drove it, over all its resumes. `until`: the end of
 * the last one, or when it was last seen; now, for a live one.
 */
export function workedMs({ drivenMs, drivenSince }: Pick<RunState, 'drivenMs' | 'drivenSince'>, until: number): number {
  // A clock may have been set back meanwhile.
  return drivenMs + (drivenSince === null ? 0 : Math.max(0, until - Date.parse(drivenSince)));
}
