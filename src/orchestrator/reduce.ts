import type { RecordedEvent, RunState } from '../state/index.ts';
import type { Changes } from './change-state.ts';
import { LEVEL_CHANGES } from './reduce-levels.ts';
import { RUN_CHANGES } from './reduce-run.ts';
import { TASK_CHANGES } from './reduce-tasks.ts';
import { WORKER_CHANGES } from './reduce-workers.ts';

const CHANGES: Changes<RecordedEvent['type']> = {
  ...RUN_CHANGES,
  ...WORKER_CHANGES,
  ...LEVEL_CHANGES,
  ...TASK_CHANGES,
};

/** The state after an event. Nothing else ever changes a run's state. */
export function reduce(state: RunState, event: RecordedEvent): RunState {
  return advance(ownCopy(state), event);
}

/**
 * As `reduce`, for a caller that owns the state: the lists of tasks, workers and levels are changed in place, because to
 * copy ten thousand tasks at each event would cost too much. The entries of the lists are replaced, never changed.
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

function change(state: RunState, event: RecordedEvent): RunState {
  return CHANGES[event.type](state, event as never);
}
