import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { hasCode } from '../lib/index.ts';
import { containerEnd } from './container-end.ts';
import type { ContainerEnd, StartedContainer, Upkeep } from './container-wish.ts';
import { createDiskMeter, watchDisk } from './disk-watch.ts';
import { createFreeSpace } from './free-space.ts';
import type { FreeSpace } from './free-space.ts';
import { keepToTheEnd } from './output.ts';
import type { Output } from './output.ts';
import { removeForSure } from './removal.ts';
import type { RetryOutage } from './retry.ts';

export type Watches = ReturnType<typeof createWatches>;

/** How many containers are known after their end. A server has very many, and asks for the end of one soon after it. */
const KNOWN_ENDED = 256;

/** The ends of containers, each of which is waited for once. */
export function createWatches(engine: Engine, retry: RetryOutage) {
  const watched = new Map<string, Watched>();
  const ended: string[] = [];
  const note = (id: string): void => {
    ended.push(id);
    const oldest = ended.length > KNOWN_ENDED ? ended.shift() : undefined;
    if (oldest !== undefined) watched.delete(oldest);
  };
  const freeSpace = createFreeSpace();
  const begin = (container: StartedContainer, output: Output): Promise<ContainerEnd> => {
    const measuring = new AbortController();
    const end = keepWatch({ engine, retry, freeSpace, measuring }, container, output);
    watched.set(container.id, { end, measuring });
    // A rejection would else count as unhandled until `end` is called.
    void end.catch(() => undefined).then(() => note(container.id));
    return end;
  };
  return {
    /** Begins to watch a container whose output is kept already. */
    begin,
    /** The end of a container; one that another process has started is watched from now on. */
    end: async (container: StartedContainer): Promise<ContainerEnd> =>
      watched.get(container.id)?.end ?? begin(container, container.upkeep.resume(container.id)),
    /** From now on it has no disk limit. What is killed now would else lose the work that it has just finished. */
    letBe: (id: string): void => watched.get(id)?.measuring.abort(),
  };
}

interface Watched {
  readonly end: Promise<ContainerEnd>;
  readonly measuring: AbortController;
}

interface Watching {
  readonly engine: Engine;
  readonly retry: RetryOutage;
  readonly freeSpace: FreeSpace;
  /** Aborted when its disk is not measured any more. */
  readonly measuring: AbortController;
}

/** Watches a container until it has ended and is removed. It is killed when it exceeds its disk limit. */
async function keepWatch(watching: Watching, { id, upkeep }: StartedContainer, first: Output): Promise<ContainerEnd> {
  const { engine, retry, measuring } = watching;
  const over = new AbortController();
  const output = keepToTheEnd(first, () => upkeep.resume(id), over.signal);
  let overLimit: string | undefined;
  const disk = overDisk(watching, { id, disk: upkeep.disk }, measuring.signal).then(async (problem) => {
    overLimit = problem;
    if (problem !== undefined) await engine.signalContainer(id, 'SIGKILL');
  });
  // When the engine does not answer this, it does not answer the call below either.
  disk.catch(() => undefined);
  try {
    // An engine that is back has ended its containers, or still has them.
    const exit = await retry(() => engine.waitContainer(id));
    if (overLimit !== undefined) await upkeep.empty();
    return containerEnd(exit, { overLimit, memoryBytes: upkeep.memoryBytes });
  } catch (error) {
    // A container whose end cannot be waited for must not live on.
    if (!hasCode(error, engineErrors.ENGINE_UNREACHABLE)) await removeForSure(engine, id);
    throw error;
  } finally {
    measuring.abort();
    over.abort();
    await output;
  }
}

async function overDisk(
  { freeSpace }: Watching,
  { id, disk }: Pick<StartedContainer, 'id'> & Pick<Upkeep, 'disk'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (disk === null) return undefined;
  const meter = createDiskMeter(disk.folders, id);
  return Promise.race([watchDisk(meter, disk, signal), freeSpace.watch(meter, signal)]);
}
