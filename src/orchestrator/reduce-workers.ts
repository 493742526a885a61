import type { RunState } from '../state/index.ts';
import { changeWorker, withWorker } from './change-state.ts';
import type { Changes, EventOf } from './change-state.ts';
import { SETTING_UP } from './plan.ts';

type WorkerEvent =
  | 'worker-starting'
  | 'worker-started'
  | 'worker-kept'
  | 'worker-phase'
  | 'worker-trouble'
  | 'worker-recovered'
  | 'worker-exited';

export const WORKER_CHANGES: Changes<WorkerEvent> = {
  'worker-starting': workerStarting,
  'worker-started': workerStarted,
  'worker-kept': (state) => state,
  'worker-phase': (state, { worker, phase }) => ({
    ...changeWorker(state, worker, {
      status: phase === 'idle' ? 'IDLE' : 'RUNNING',
      cause: phase === 'setup' ? SETTING_UP : null,
      toldPhases: (state.workers[worker]?.toldPhases ?? 0) + 1,
    }),
    startFailures: 0,
  }),
  'worker-trouble': (state, { worker, text }) =>
    changeWorker(state, worker, {
      trouble: text,
      toldTroubles: [...(state.workers[worker]?.toldTroubles ?? []), text],
    }),
  'worker-recovered': (state, { worker }) => changeWorker(state, worker, { trouble: null }),
  'worker-exited': workerExited,
};

function workerStarting(state: RunState, event: EventOf<'worker-starting'>): RunState {
  const { worker, mode, session, branch, worktree, at } = event;
  return withWorker(state, worker, {
    status: 'STARTING',
    mode,
    session,
    task: null,
    heartbeatAt: null,
    branch,
    worktree,
    pid: null,
    containerId: null,
    handle: null,
    startedAt: at,
    cause: null,
    trouble: null,
    toldTroubles: [],
    toldPhases: 0,
  });
}

/** The end of a start counts only for its own session: the worker may have a newer one. */
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
