import { freemem } from 'node:os';
import type { Config } from '../config/index.ts';
import { needRoom, workerEnvironment } from '../git/index.ts';
import { hasCode, libErrors, reasonOf, systemClock, watchFolder } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { sweepOwner } from '../containers/index.ts';
import { createSubprocessLauncher, listWorkers } from '../launchers/index.ts';
import type { Launcher, WorkerHandle } from '../launchers/index.ts';
import { createFolderMail } from '../mail/index.ts';
import type { Policy, Ports, RunOptions } from '../orchestrator/index.ts';
import { MARKS } from '../protocol/index.ts';
import type { Prices } from '../protocol/index.ts';
import type { RunSettings, RunState, StateStore } from '../state/index.ts';
import { machinePlace } from './agent-place.ts';
import { programFile } from './package-files.ts';
import type { Project } from './project.ts';
import type { WorkerWishes, Workers } from './run-workers.ts';

/** Between SIGTERM and SIGKILL. */
export const STOP_GRACE_MS = 10_000;
/** How long an agent may live on after its result. */
const COMPLETION_MS = 60_000;
const LOST_WORKERS_PER_TASK = 5;
const START_FAILURES = 3;
/** With less free space neither workers nor the run can go on. */
const ROOM_BYTES = 1024 ** 2;
/** No commit is larger. What is fetched stays in the user's repository, also from failed attempts, so it has a limit of its own. */
const BUNDLE_BYTES = 1024 ** 3;

/** The orchestrator's ports with their real implementations. */
export function wirePorts(
  project: Project,
  store: StateStore,
  given: Pick<Ports, 'launcher' | 'snapshots' | 'emit'>,
): Ports {
  return {
    clock: systemClock,
    repository: project.repository,
    store,
    mail: createFolderMail(store.paths),
    spareMail: createFolderMail({ lease: store.paths.lease, worker: store.paths.spare }),
    freeMemory: freemem,
    watch: watchFolder,
    ...given,
    lackOfRoom: () => findLackOfRoom([project.repository.commonDir, store.paths.workers]),
  };
}

async function findLackOfRoom(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      await needRoom(folder, ROOM_BYTES, 'a run');
    } catch (error) {
      if (hasCode(error, libErrors.FILE_UNWRITABLE)) return `No space left on the disk: ${reasonOf(error)}`;
    }
  }
  return undefined;
}

/** Workers with the user's own rights. */
export function wireSubprocesses(): Launcher {
  return createSubprocessLauncher({ node: process.execPath, workerProgram: programFile('worker') });
}

/** Workers for the mode of a run. Code for containers is loaded only when it is needed. */
export async function wireWorkers(wishes: WorkerWishes): Promise<Workers> {
  const { mode, env, project } = wishes;
  if (mode.name === 'subprocess')
    return {
      launcher: wireSubprocesses(),
      env,
      place: machinePlace(env, project.repository.root),
      redact: (text) => text,
      credentials: [],
      snapshotBase: null,
      warnings: Promise.resolve([]),
    };
  const { wireContainers } = await import('./wire-containers.ts');
  return wireContainers({ ...wishes, mode });
}

/** Throws what `wireWorkers` would throw for the configuration; returns its warnings. */
export async function checkWorkers(wishes: WorkerWishes): Promise<readonly string[]> {
  const { mode } = wishes;
  if (mode.name !== 'container') return [];
  const { checkContainers } = await import('./wire-containers.ts');
  return checkContainers({ ...wishes, mode });
}

/** Ends the workers that a run has left. Returns the number of processes or containers. */
export async function sweepRun(state: RunState, env: Environment): Promise<number> {
  if (state.settings.mode !== 'container') return wireSubprocesses().sweep(state.runId);
  const { findEngine } = await import('../engines/index.ts');
  return sweepOwner(await findEngine(env), state.runId);
}

/** Lists the live workers of a run; none when the engine does not answer. */
export function wireList(env: Environment): (state: RunState) => Promise<WorkerHandle[]> {
  return async ({ runId, settings }) => {
    if (settings.mode !== 'container') return wireSubprocesses().list(runId);
    const { engine } = await (await import('../engines/index.ts')).searchEngine(env);
    return engine === undefined ? [] : listWorkers(engine, runId);
  };
}

/** Options of a run that are not in the configuration. */
type GivenOptions = Pick<RunOptions, 'agentFor' | 'copies' | 'deadlineMs' | 'spentMs' | 'env' | 'redact' | 'stop'> &
  Pick<Policy, 'singleUse'>;

export function runOptions({ workers, retry, prices }: Config, { singleUse, ...given }: GivenOptions): RunOptions {
  const { verification } = workers.container;
  return {
    ...given,
    prices: pricesOf(prices),
    policy: {
      attempts: retry.attempts,
      losses: LOST_WORKERS_PER_TASK,
      backoffMs: retry.backoff,
      // Five heartbeats are due per lease: a worker without one for two leases hangs.
      silentMs: workers.lease * 2,
      startFailures: START_FAILURES,
      setup: workers.setup !== undefined,
      singleUse,
      verifyAfresh: singleUse && verification === 'fresh-container',
    },
    limits: { totalMs: workers.task_timeout, idleMs: workers.idle_timeout, completionMs: COMPLETION_MS },
    leaseMs: workers.lease,
    setup: workers.setup === undefined ? null : { command: workers.setup, timeoutMs: workers.setup_timeout },
    env: withoutMarks(workerEnvironment(given.env)),
    bundleBytes: Math.min(workers.container.disk, BUNDLE_BYTES),
    checkoutBytes: workers.container.disk,
    graceMs: STOP_GRACE_MS,
  };
}

function pricesOf(prices: Config['prices']): Prices {
  const entries = Object.entries(prices).map(([model, { input, output, cache_read: read, cache_write: write }]) => {
    return [model, { input, output, cacheRead: read ?? input, cacheWrite: write ?? input }] as const;
  });
  return Object.fromEntries(entries);
}

/** A run that is started inside a task of another run must not carry its marks. */
function withoutMarks(env: Environment): Environment {
  const marks = new Set<string>(Object.values(MARKS));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !marks.has(name)));
}

export function runSettings(config: Config, wishes: Omit<RunSettings, 'ownership' | 'gates'>): RunSettings {
  const gates = config.gates.map(({ timeout, ...gate }) => ({ ...gate, timeoutMs: timeout }));
  return { ...wishes, ownership: config.ownership, gates };
}
