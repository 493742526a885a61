import { foreignLock, kill, sleep, systemClock } from '../lib/index.ts';
import { removeCheckouts } from '../orchestrator/index.ts';
import type { RunState, StateStore } from '../state/index.ts';
import { projectErrors } from './errors.ts';
import type { Project } from './project.ts';
import type { RunHost } from './run-face.ts';
import { STOP_GRACE_MS, sweepRun } from './wire.ts';

/** How long to wait for the orchestrator's end: the workers' grace, and time to save the state on a busy machine. */
const END_LIMIT_MS = STOP_GRACE_MS + 120_000;

type Asked = Pick<RunHost, 'env' | 'interrupted'>;

export type Stopped =
  | { readonly kind: 'nothing-to-stop' }
  /** There was no orchestrator; these were left by it and have been ended. */
  | { readonly kind: 'swept'; readonly count: number; readonly what: 'containers' | 'processes' }
  | { readonly kind: 'stopped'; readonly state: RunState | undefined };

/** Ends the orchestrator and waits until it is gone; without one, ends the workers that it left. */
export async function stopRun(project: Project, feature: string, asked: Asked): Promise<Stopped> {
  const store = project.store(feature);
  const holder = await store.holder();
  if (holder === undefined) return sweepOrphans(project, store, asked);
  // On another host: that number is some other process here.
  const foreign = foreignLock(store.paths.lock, holder);
  if (foreign !== undefined) throw foreign;
  kill(holder.pid, 'SIGTERM');
  if (!(await ended(store, holder.token, asked.interrupted))) {
    throw projectErrors.STOP_SLOW({ feature, pid: holder.pid, waitedMs: END_LIMIT_MS });
  }
  const state = await store.read();
  // It was killed while it stopped, and has recorded no end.
  if (state?.status === 'running' && (await store.holder()) === undefined) return sweepOrphans(project, store, asked);
  return { kind: 'stopped', state };
}

async function ended(store: StateStore, token: string, interrupted: AbortSignal): Promise<boolean> {
  const deadline = systemClock.monotonic() + END_LIMIT_MS;
  while (systemClock.monotonic() < deadline) {
    if ((await store.holder())?.token !== token) return true;
    await sleep(50, interrupted);
    interrupted.throwIfAborted();
  }
  return false;
}

/** Under the lock, so that a run resumed meanwhile does not lose its new workers. */
async function sweepOrphans({ repository }: Project, store: StateStore, { env }: Asked): Promise<Stopped> {
  const state = await store.read();
  if (state === undefined) return { kind: 'nothing-to-stop' };
  const release = await store.lock();
  try {
    const count = await sweepRun(state, env);
    await removeCheckouts({ repository, store });
    if (count === 0) return { kind: 'nothing-to-stop' };
    return { kind: 'swept', count, what: state.settings.mode === 'container' ? 'containers' : 'processes' };
  } finally {
    await release();
  }
}
