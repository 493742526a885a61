import { readUntrusted } from '../lib/index.ts';
import type { WorkerHandle } from '../launchers/index.ts';
import { STATUS_LIMIT, workerStatus } from '../protocol/index.ts';
import type { Phase } from '../protocol/index.ts';
import type { RunState, StateStore, WorkerState } from '../state/index.ts';

/** A run as it is, not as it was last written down: what is dead is not shown as alive. */
export interface StatusView extends Omit<RunState, 'workers'> {
  /** The process that drives the run; null when nobody does. */
  readonly orchestrator: { readonly pid: number; readonly since: string } | null;
  readonly workers: Record<string, WorkerState & { readonly phase: Phase | null }>;
}

export async function viewStatus(
  store: StateStore,
  listLive: (state: RunState) => Promise<readonly WorkerHandle[]>,
): Promise<StatusView | undefined> {
  const before = await store.read();
  if (before === undefined) return undefined;
  const holder = await store.holder();
  const live = new Set((await listLive(before)).map((handle) => handle.session));
  // Who has ended in order since then has been written down by now.
  const state = (await store.read()) ?? before;
  const workers = await Promise.all(
    Object.entries(state.workers).map(async ([key, worker]) => {
      // Between its start and its first sign a worker may not be in the list yet.
      const started = worker.handle !== null || holder === undefined;
      const dead = !live.has(worker.session) && before.workers[key]?.session === worker.session && started;
      return [key, await lookAtWorker(store, Number(key), worker, dead)] as const;
    }),
  );
  const orchestrator = holder === undefined ? null : { pid: holder.pid, since: holder.since };
  return { ...truth(state, orchestrator !== null), orchestrator, workers: Object.fromEntries(workers) };
}

/** "Running" needs somebody who runs it. */
function truth(state: RunState, live: boolean): RunState {
  if (state.status !== 'running' || live) return state;
  const tasks = Object.entries(state.tasks).map(([id, task]) => {
    const broken = task.status === 'running' || task.status === 'verifying';
    return [id, broken ? { ...task, status: 'pending' as const, cause: 'broken off: the orchestrator is gone' } : task];
  });
  return { ...state, status: 'stopped', cause: 'the orchestrator is gone', tasks: Object.fromEntries(tasks) };
}

async function lookAtWorker(
  store: StateStore,
  number: number,
  worker: WorkerState,
  dead: boolean,
): Promise<StatusView['workers'][string]> {
  const over = worker.status === 'STOPPED' || worker.status === 'CRASHED';
  if (over) return { ...worker, phase: null };
  if (dead) return { ...worker, status: 'CRASHED', task: null, trouble: null, phase: null };
  const status = await readStatus(store.paths.worker(number).status);
  if (status === undefined || status.session !== worker.session) return { ...worker, phase: null };
  return { ...worker, heartbeatAt: status.at, phase: status.phase, trouble: status.trouble };
}

async function readStatus(file: string): Promise<ReturnType<typeof workerStatus.parse> | undefined> {
  try {
    const text = await readUntrusted(file, STATUS_LIMIT);
    return text === undefined ? undefined : workerStatus.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
