import { hasCode, sleep } from '../../lib/index.ts';
import type { Engine } from '../../engines/index.ts';
import { lastLines } from '../../logs/index.ts';
import type { Launcher, WorkerExit, WorkerHandle } from '../launcher.ts';
import { placesOf } from './labels.ts';
import { watchDisk } from './disk-watch.ts';
import { workerExit } from './endings.ts';
import { resumeOutput } from './output.ts';
import type { Output } from './output.ts';
import { createRunParts } from './run-parts.ts';
import type { ContainerLauncherOptions, ContainerSettings } from './settings.ts';
import { startWorker } from './start-worker.ts';
import { sweepRun } from './sweep.ts';
import { CONTAINER, handleOf, listWorkers } from './worker-list.ts';

/** An engine that is started anew is back by then; workers live on without it, or have ended. */
const OUTAGE_MS = 30_000;
const LOOK_AGAIN_MS = 500;
/** Between SIGKILL and removal by force, which also ends what is paused or stuck. */
const KILL_MS = 5000;

/** A worker that this process keeps hold of. */
interface Held {
  readonly exit: Promise<WorkerExit>;
}

/** Workers as locked-down containers: they see their own folders, and of the network what the user allows. */
export function createContainerLauncher(options: ContainerLauncherOptions): Launcher {
  const { engine, settings } = options;
  const held = new Map<string, Held>();
  const parts = createRunParts(options);

  const hold = (handle: WorkerHandle, output: Output): Promise<WorkerExit> => {
    const exit = keepWatch(engine, settings, handle).finally(() => output.settled());
    // Whoever waits is told; that nobody waits yet is no fault.
    exit.catch(() => undefined);
    held.set(handle.session, { exit });
    return exit;
  };
  const watch = async (handle: WorkerHandle): Promise<WorkerExit> => {
    const known = held.get(handle.session)?.exit;
    if (known !== undefined) return known;
    const output = resumeOutput(engine, idOf(handle), placesOf(handle.facts).log, settings.handover.secrets);
    return hold(handle, output);
  };

  return {
    name: CONTAINER,
    capabilities: { sharesObjects: false },
    start: async (spec) => {
      const { wayOut } = await parts.of(spec);
      const { info, output } = await startWorker(engine, settings, spec);
      const handle = handleOf(info);
      void hold(handle, output);
      await orRemove(engine, info.id, wayOut);
      return handle;
    },
    recover: async (handle) => {
      const info = await engine.inspectContainer(idOf(handle));
      if (info === undefined || info.createdAt !== handle.facts['started']) return false;
      if (info.status !== 'running' && info.status !== 'paused') {
        await engine.removeContainer(info.id);
        return false;
      }
      void watch(handle).catch(() => undefined);
      return true;
    },
    wait: watch,
    stop: async (handle, { graceMs }) => {
      const exit = watch(handle);
      await endContainer(engine, idOf(handle), exit, graceMs);
      return exit;
    },
    logs: async (handle, lines) => (await lastLines(placesOf(handle.facts).log, lines, () => true)).lines,
    list: (runId) => listWorkers(engine, runId),
    sweep: async (runId) => {
      await parts.close(runId);
      return sweepRun(engine, runId);
    },
  };
}

function idOf({ containerId }: WorkerHandle): string {
  return containerId ?? '';
}

/** Until it has ended and is removed. It ends before its time when it keeps more on the disk than it may. */
async function keepWatch(engine: Engine, settings: ContainerSettings, handle: WorkerHandle): Promise<WorkerExit> {
  const over = new AbortController();
  let overLimit: string | undefined;
  const disk = watchDisk(placesOf(handle.facts), settings.diskBytes, over.signal).then(async (problem) => {
    overLimit = problem;
    if (problem !== undefined) await engine.signalContainer(idOf(handle), 'SIGKILL');
  });
  // An engine that cannot be asked to end it is noticed below.
  disk.catch(() => undefined);
  try {
    const exit = await waitThrough(engine, idOf(handle));
    return workerExit(exit, { overLimit, memoryBytes: settings.memoryBytes });
  } finally {
    over.abort();
  }
}

/** An engine that goes away and comes back takes its containers along, or finds them again: it is asked anew. */
async function waitThrough(engine: Engine, id: string): ReturnType<Engine['waitContainer']> {
  for (;;) {
    try {
      return await engine.waitContainer(id);
    } catch (error) {
      if (!hasCode(error, 'ENGINE_UNREACHABLE') || !(await comesBack(engine))) throw error;
    }
  }
}

async function comesBack(engine: Engine): Promise<boolean> {
  const deadline = performance.now() + OUTAGE_MS;
  while (performance.now() < deadline) {
    const there = await engine.info().then(
      () => true,
      () => false,
    );
    if (there) return true;
    await sleep(LOOK_AGAIN_MS);
  }
  return false;
}

/** A worker without what it needs is not left behind. */
async function orRemove(engine: Engine, id: string, need: Promise<void>): Promise<void> {
  try {
    await need;
  } catch (error) {
    await engine.removeContainer(id);
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
