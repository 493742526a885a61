import { inSeconds } from '../lib/text/amounts.ts';
import type { RunState, WorkerState } from '../state/index.ts';
import { tellTrouble } from './decide-trouble.ts';
import { record, SETTING_UP } from './plan.ts';
import type { Action, Snapshot, WorkerView } from './plan.ts';

export function isLive(worker: WorkerState): boolean {
  return worker.status === 'STARTING' || worker.status === 'RUNNING' || worker.status === 'IDLE';
}

/** Which live workers have ended, are silent, or report a new phase? */
export function checkWorkers({ state, workers, policy, stop }: Snapshot): Action[] {
  const actions = Object.entries(state.workers)
    .filter(([, worker]) => isLive(worker))
    .flatMap(([key, worker]) => checkWorker(Number(key), worker, workers.get(Number(key)), policy.silentMs));
  if (actions.length > 0) return actions;
  // What stops the run may be why they do not start: then it is the cause.
  return stop === null ? tooManyStartFailures(state, policy.startFailures) : [];
}

function checkWorker(number: number, worker: WorkerState, view: WorkerView | undefined, limitMs: number): Action[] {
  if (view?.setupFailure != null) {
    return [
      { kind: 'finish', status: 'failed', exit: 1, cause: `worker ${number}: ${view.setupFailure}`, resumeAt: null },
    ];
  }
  if (view === undefined || !view.alive) {
    // One that got ready and died before we looked has not failed to start.
    const unseen = worker.status === 'STARTING' && view !== undefined ? phaseOf(view) : undefined;
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
  return [...phaseNews(number, worker, view), ...tellTrouble(number, worker, view)];
}

function phaseNews(number: number, worker: WorkerState, view: WorkerView): Action[] {
  const phase = phaseOf(view);
  const shown = { STARTING: 'starting', RUNNING: 'busy', IDLE: 'idle', STOPPED: '', CRASHED: '' }[worker.status];
  const known = worker.cause === SETTING_UP ? 'setup' : shown;
  if (phase === undefined || phase === known) return [];
  return [record({ type: 'worker-phase', worker: number, phase })];
}

function exited(worker: number, view: WorkerView | undefined): Action {
  const words = view === undefined || view.lastWords.length === 0 ? '' : `; last words: ${view.lastWords.join(' | ')}`;
  return record({ type: 'worker-exited', worker, expected: false, cause: `${view?.exit ?? 'it is gone'}${words}` });
}

function phaseOf(view: WorkerView): 'setup' | 'idle' | 'busy' | undefined {
  switch (view.phase) {
    case null:
    case 'starting':
    case 'stopping':
    case 'stopped':
      return undefined;
    case 'setup':
      return 'setup';
    case 'idle':
      return 'idle';
    case 'preparing':
    case 'running':
    case 'verifying':
    case 'gating':
      return 'busy';
  }
}

function tooManyStartFailures(state: RunState, limit: number): Action[] {
  if (state.startFailures < limit) return [];
  const last = Object.values(state.workers).findLast((worker) => worker.status === 'CRASHED');
  const cause = `workers end before they are ready, ${state.startFailures} times in a row; last: ${last?.cause ?? 'no reason known'}`;
  return [{ kind: 'finish', status: 'failed', exit: 4, cause, resumeAt: null }];
}

/** An idle worker that fits; else the number of one that may be started, and why. */
export function findWorker(
  { state, workers }: Snapshot,
  taken: ReadonlySet<number>,
  fit: 'any' | 'takes credentials' = 'any',
): { worker: number | undefined; start?: string } {
  const numbers = Array.from({ length: state.settings.workers }, (_, index) => index).filter(
    (number) => !taken.has(number),
  );
  const free = (number: number): boolean => {
    const worker = state.workers[number];
    if (worker === undefined || !isLive(worker) || worker.task !== null) return false;
    const view = workers.get(number);
    if (fit === 'takes credentials' && view?.takesCredentials !== true) return false;
    return view !== undefined && view.alive && view.phase !== 'stopping' && view.phase !== 'stopped';
  };
  const idle = numbers.find((number) => free(number) && state.workers[number]?.status === 'IDLE') ?? numbers.find(free);
  if (idle !== undefined) return { worker: idle };
  const startable = numbers.find((number) => {
    const worker = state.workers[number];
    return worker === undefined || !isLive(worker);
  });
  if (startable === undefined) return { worker: undefined };
  const before = state.workers[startable];
  const again = before === undefined ? '' : `; its last life: ${before.cause ?? before.status}`;
  return { worker: startable, start: `more ready work than free workers${again}` };
}
