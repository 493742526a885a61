import { engineErrors } from '../../engines/errors.ts';
import { hasCode, sleep } from '../../lib/index.ts';
import type { Engine, Labels } from '../../engines/index.ts';
import { lastLines } from '../../logs/index.ts';
import type { Launcher, WorkerExit, WorkerHandle, WorkerSpec } from '../launcher.ts';
import { LABEL, placesOf } from '../../containers/labels.ts';
import { createDiskMeter, watchDisk } from '../../containers/disk-watch.ts';
import { workerExit } from '../../containers/endings.ts';
import { emptyFolders } from './folders.ts';
import { createFreeSpace } from '../../containers/free-space.ts';
import type { FreeSpace } from '../../containers/free-space.ts';
import { keepToTheEnd, resumeOutput } from '../../containers/output.ts';
import type { Output } from '../../containers/output.ts';
import { createPatience } from '../../containers/outage.ts';
import type { Patience } from '../../containers/outage.ts';
import { removeForSure } from '../../containers/removal.ts';
import { createRunParts, runOf } from '../../containers/run-parts.ts';
import { secretsOf } from '../../containers/settings.ts';
import type { ContainerLauncherOptions } from '../../containers/settings.ts';
import { startWorker } from './start-worker.ts';
import { createStdins } from './stdins.ts';
import { sweepRun } from '../../containers/sweep.ts';
import { CONTAINER, handleOf, listWorkers } from './worker-list.ts';

/** Between SIGKILL and removal by force, which also ends what is paused or stuck. */
const KILL_MS = 5000;
/** What is being made when all is to go has this long to be made, so that it can go too. */
const MAKING_MS = 5000;

/** Workers as locked-down containers: they see their own folders, and of the network what the user allows. */
export function createContainerLauncher(options: ContainerLauncherOptions): Launcher {
  const { engine } = options;
  const patience = createPatience(engine, options.outageMs);
  const workshop = createWorkshop();
  const making: Patience = (work) => workshop.begun(patience(work));
  const parts = createRunParts(options, making);
  const { hold, watch } = createWatches(options, patience);
  const stdins = createStdins();
  const start = async (spec: WorkerSpec, again: boolean): Promise<WorkerHandle> => {
    if (again) await removeAll(engine, { [LABEL.session]: spec.session });
    const { wayOut, tokenOf } = await parts.of(spec);
    const { info, output, stdin } = await startWorker(engine, options.settings, spec, tokenOf(spec.worker));
    const handle = handleOf(info);
    stdins.hold(handle.session, stdin, hold(handle, output));
    // After the worker, which waits for it when it needs it: both at once would only be slower.
    await orRemove(engine, info.id, wayOut());
    return handle;
  };

  return {
    name: CONTAINER,
    capabilities: { sharesObjects: false },
    start: (spec) => {
      let tries = 0;
      return making(() => start(spec, tries++ > 0));
    },
    recover: async (handle) => {
      if (!(await isStillThere(engine, handle))) return false;
      // Its run needs a last hand and a way out as before; without one of them it is told like any other worker.
      workshop.begun(parts.of(runOf(handle)).then(({ wayOut }) => wayOut())).catch(() => undefined);
      void watch(handle).catch(() => undefined);
      return true;
    },
    wait: watch,
    takesCredentials: ({ session }) => stdins.isOpen(session),
    giveCredentials: ({ session }, attempt) => stdins.giveCredentials(session, attempt, options.settings.access),
    stop: async (handle, { graceMs }) => {
      const exit = watch(handle);
      // Its end is its end, also while nobody can be asked for it.
      await Promise.race([exit, patience(() => endContainer(engine, idOf(handle), exit, graceMs))]);
      return exit;
    },
    logs: async (handle, lines) => (await lastLines(placesOf(handle.facts).log, lines, () => true)).lines,
    list: (runId) => listWorkers(engine, runId),
    sweep: async (runId) => {
      await parts.close(runId);
      const swept = await sweepWith(engine, runId, workshop);
      // If that could not be done, or something is still to come, the last hand stays, and does it when we are gone.
      if (workshop.isEmpty()) parts.forget(runId);
      return swept;
    },
  };
}

/** The ends of workers, each of which is waited for once. */
interface Watches {
  hold(handle: WorkerHandle, output: Output): Promise<WorkerExit>;
  watch(handle: WorkerHandle): Promise<WorkerExit>;
}

function createWatches(options: ContainerLauncherOptions, patience: Patience): Watches {
  const held = new Map<string, Promise<WorkerExit>>();
  const freeSpace = createFreeSpace();
  const resume = (handle: WorkerHandle): Output =>
    resumeOutput(options.engine, idOf(handle), {
      ...placesOf(handle.facts),
      secrets: secretsOf(options.settings),
    });
  const hold = (handle: WorkerHandle, first: Output): Promise<WorkerExit> => {
    const exit = keepWatch(options, { patience, freeSpace }, handle, (over) =>
      keepToTheEnd(first, () => resume(handle), over),
    );
    // Whoever waits is told; that nobody waits yet is no fault.
    exit.catch(() => undefined);
    held.set(handle.session, exit);
    return exit;
  };
  return { hold, watch: async (handle) => held.get(handle.session) ?? hold(handle, resume(handle)) };
}

/** What is being made in the engine, or kept running there: it may still come when all is to go. */
interface Workshop {
  begun<Result>(work: Promise<Result>): Promise<Result>;
  isEmpty(): boolean;
  /** Resolves when nothing is left in it, or the time is over. */
  emptyWithin(ms: number): Promise<void>;
}

function createWorkshop(): Workshop {
  const works = new Set<Promise<unknown>>();
  return {
    begun: (work) => {
      const over: Promise<unknown> = work.catch(() => undefined).then(() => works.delete(over));
      works.add(over);
      return work;
    },
    isEmpty: () => works.size === 0,
    emptyWithin: async (ms) => {
      const over = new AbortController();
      await Promise.race([Promise.all(works), sleep(ms, over.signal)]);
      over.abort();
    },
  };
}

/** What is just being made would come after the sweep. */
async function sweepWith(engine: Engine, runId: string, workshop: Workshop): Promise<number> {
  const swept = await sweepRun(engine, runId);
  if (workshop.isEmpty()) return swept;
  await workshop.emptyWithin(MAKING_MS);
  return swept + (await sweepRun(engine, runId));
}

/** The same one, and not only its remains: those go. */
async function isStillThere(engine: Engine, handle: WorkerHandle): Promise<boolean> {
  const info = await engine.inspectContainer(idOf(handle));
  if (info === undefined || info.createdAt !== handle.facts['started']) return false;
  if (info.status === 'running' || info.status === 'paused') return true;
  await engine.removeContainer(info.id);
  return false;
}

/** What an engine that went away has kept of a start that was not told of. */
async function removeAll(engine: Engine, labels: Labels): Promise<void> {
  for (const { id } of await engine.listContainers(labels)) await engine.removeContainer(id);
}

function idOf({ containerId }: WorkerHandle): string {
  return containerId ?? '';
}

/** Until it has ended and is removed. It ends before its time when it keeps more on the disk than it may. */
async function keepWatch(
  { engine, settings }: ContainerLauncherOptions,
  { patience, freeSpace }: { readonly patience: Patience; readonly freeSpace: FreeSpace },
  handle: WorkerHandle,
  keepOutput: (over: AbortSignal) => Promise<void>,
): Promise<WorkerExit> {
  const over = new AbortController();
  const output = keepOutput(over.signal);
  let overLimit: string | undefined;
  const meter = createDiskMeter(placesOf(handle.facts), idOf(handle));
  const tooMuch = [watchDisk(meter, settings.diskBytes, over.signal), freeSpace.watch(meter, over.signal)];
  const disk = Promise.race(tooMuch).then(async (problem) => {
    overLimit = problem;
    if (problem !== undefined) await engine.signalContainer(idOf(handle), 'SIGKILL');
  });
  // An engine that cannot be asked to end it is noticed below.
  disk.catch(() => undefined);
  try {
    // An engine that comes back takes its containers along, or finds them again: it is asked anew.
    const exit = await patience(() => engine.waitContainer(idOf(handle)));
    if (overLimit !== undefined) await emptyFolders(placesOf(handle.facts));
    return workerExit(exit, { overLimit, memoryBytes: settings.memoryBytes });
  } catch (error) {
    // What cannot be waited for does not live on unseen.
    if (!hasCode(error, engineErrors.ENGINE_UNREACHABLE)) await removeForSure(engine, idOf(handle));
    throw error;
  } finally {
    over.abort();
    await output;
  }
}

/** A worker without what it needs is not left behind. */
async function orRemove(engine: Engine, id: string, need: Promise<void>): Promise<void> {
  try {
    await need;
  } catch (error) {
    await removeForSure(engine, id);
    throw error;
  }
}

/** SIGTERM, SIGKILL after the grace, and by force what is left then. */
async function endContainer(engine: Engine, id: string, exit: Promise<unknown>, graceMs: number): Promise<void> {
  const gone = exit.then(
    () => true,
    () => true,
  );
  const within = (ms: number): Promise<boolean> => Promise.race([gone, sleep(ms).then(() => false)]);
  if (graceMs > 0) {
    await engine.signalContainer(id, 'SIGTERM');
    if (await within(graceMs)) return;
  }
  await engine.signalContainer(id, 'SIGKILL');
  if (!(await within(KILL_MS))) await engine.removeContainer(id);
}
