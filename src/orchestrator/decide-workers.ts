import { inSeconds } from '../lib/text/amounts.ts';
import type { Phase } from '../protocol/index.ts';
import type { RunState, WorkerState } from '../state/index.ts';
import { isAtTrial } from './decide-gates.ts';
import { finishWith, isLive, record, SETTING_UP, workerExited } from './plan.ts';
import type { Action, Snapshot, WorkerView } from './plan.ts';

/** Which live workers have ended, are silent, or report a new phase? */
export function checkWorkers({ state, workers, policy, stop }: Snapshot): Action[] {
  const actions = Object.entries(state.workers)
    .filter(([, worker]) => isLive(worker))
    .flatMap(([key, worker]) => {
      const [number, view] = [Number(key), workers.get(Number(key))];
      if (view?.setupFailure == null || isAtTrial(state, number))
        return checkWorker(number, worker, view, policy.silentMs);
      return [finishWith('failed', 1, `worker ${number}: ${view.setupFailure}`)];
    });
  if (actions.length > 0) return actions;
  // What stops the run may be why workers do not start: then it is the cause of the end.
  return stop === null ? tooManyStartFailures(state, policy.startFailures) : [];
}

function checkWorker(number: number, worker: WorkerState, view: WorkerView | undefined, limitMs: number): Action[] {
  if (view !== undefined && view.retired !== null) return view.alive ? [] : [workerExited(number, true, view.retired)];
  if (view === undefined || !view.alive) {
    // A worker that was ready and died between two looks has not failed to start.
    const unseen = worker.status === 'STARTING' && view !== undefined ? shownPhase(view) : undefined;
    const ready = unseen === undefined ? [] : [record({ type: 'worker-phase', worker: number, phase: unseen })];
    return [...ready, exited(number, view)];
  }
  if (view.unreadable !== null) {
    return [{ kind: 'kill-worker', worker: number, cause: `its status cannot be used: ${view.unreadable}` }];
  }
  if (view.silentMs > limitMs) {
    const cause = `no heartbeat for ${inSeconds(view.silentMs)}, limit ${inSeconds(limitMs)}`;
    return [{ kind: 'kill-worker', worker: number, cause }];
  }
  return [...phaseNews(number, worker, view), ...troubleNews(number, worker, view)];
}

/** How many phases are shown of one assignment; it has five. A task can make its worker report others without end. */
const MOST_PHASES = 10;

function phaseNews(number: number, worker: WorkerState, view: WorkerView): Action[] {
  const phase = shownPhase(view);
  const shown = { STARTING: 'starting', RUNNING: 'busy', IDLE: 'idle', STOPPED: '', CRASHED: '' }[worker.status];
  const known = worker.cause === SETTING_UP ? 'setup' : shown;
  if (phase === undefined || phase === known || worker.toldPhases >= MOST_PHASES) return [];
  return [record({ type: 'worker-phase', worker: number, phase })];
}

function exited(worker: number, view: WorkerView | undefined): Action {
  const words = view === undefined || view.lastLines.length === 0 ? '' : `; last output: ${view.lastLines.join(' | ')}`;
  return workerExited(worker, false, `${view?.exit ?? 'it is gone'}${words}`);
}

/** What is shown of a phase; undefined for those at the start and the end of a worker. */
const SHOWN_PHASE: Readonly<Record<Phase, 'setup' | 'idle' | 'busy' | undefined>> = {
  starting: undefined,
  stopping: undefined,
  stopped: undefined,
  setup: 'setup',
  idle: 'idle',
  preparing: 'busy',
  running: 'busy',
  verifying: 'busy',
  gating: 'busy',
};

function shownPhase({ phase }: WorkerView): 'setup' | 'idle' | 'busy' | undefined {
  return phase === null ? undefined : SHOWN_PHASE[phase];
}

function tooManyStartFailures(state: RunState, limit: number): Action[] {
  if (state.startFailures < limit) return [];
  const last = Object.values(state.workers).findLast((worker) => worker.status === 'CRASHED');
  const cause = `workers end before they are ready, ${state.startFailures} times in a row; last: ${last?.cause ?? 'no reason known'}`;
  return [finishWith('failed', 4, cause)];
}

/** How many causes are shown of one session: a task can make its worker report new ones without end. */
const MOST_TROUBLES = 5;

/** Shows why an agent waits for its model, each cause once. It has no other effect. */
function troubleNews(worker: number, known: WorkerState, view: WorkerView): Action[] {
  const { task, trouble: shown, toldTroubles } = known;
  // The end of an attempt ends its trouble, and does not show whether the model answers again.
  if (task === null || view.phase !== 'running') return [];
  const { trouble } = view;
  if (trouble === null) return shown === null ? [] : [record({ type: 'worker-recovered', worker, task })];
  if (toldTroubles.includes(trouble) || toldTroubles.length >= MOST_TROUBLES) return [];
  return [record({ type: 'worker-trouble', worker, task, text: trouble })];
}
