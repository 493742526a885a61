import { randomBytes } from 'node:crypto';
import { LABEL } from '../containers/index.ts';
import type { Engine, VolumeInfo } from '../engines/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { workOnVolumes } from './work-on-volumes.ts';
import type { VolumeWork } from './work-on-volumes.ts';

const LABELS = { [LABEL.role]: 'runtime' };
/** No server takes so long to fill a volume: what is older and not filled is left over. */
const LEFT_MS = 10 * 60_000;
/** After that, what was filled from another image is probably that of an old version. */
const OLD_MS = 7 * 24 * 60 * 60_000;

export interface RuntimeImage {
  readonly tag: string;
  /** The engine's id of it. */
  readonly id: string;
}

/**
 * The volume with Node and the sandbox agent, which stock images get mounted. The engine fills a new volume from the image
 * that is mounted over. Its labels cannot change, so an empty volume beside it says that it is filled. Servers that start
 * together may fill one each: that takes room, and no lock.
 */
export async function runtimeVolume(engine: Engine, { tag, id }: RuntimeImage): Promise<string> {
  const start = `mahabharatha-runtime-${id.replace('sha256:', '').slice(0, 16)}-`;
  const known = await engine.listVolumes(LABELS);
  const filled = known.find(({ name }) => name.startsWith(start) && known.some((other) => other.name === markOf(name)));
  if (filled !== undefined) return filled.name;
  await removeLeft(engine, known);
  await removeOld(engine, known);
  const name = `${start}${randomBytes(4).toString('hex')}`;
  await engine.createVolume(name, LABELS);
  try {
    await workOnVolumes(engine, fillingOf(tag, name));
    await engine.createVolume(markOf(name), LABELS);
    return name;
  } catch (error) {
    await engine.removeVolume(name).catch(() => undefined);
    throw error;
  }
}

/** Looks again each time, because people and servers of other versions may have removed it. Those that ask together look once. */
export function runtimeVolumeKeeper(engine: Engine, image: RuntimeImage): () => Promise<string> {
  let looking: Promise<string> | undefined;
  return () => {
    looking ??= runtimeVolume(engine, image).finally(() => (looking = undefined));
    return looking;
  };
}

const markOf = (volume: string): string => `${volume}-filled`;
const isOlder = ({ createdAt }: { readonly createdAt: string }, ms: number): boolean =>
  Date.now() - Date.parse(createdAt) > ms;
const isOld = (found: { readonly createdAt: string }): boolean => isOlder(found, LEFT_MS);

/** The engine keeps one that a container has. A server whose volume is gone fills another one. */
async function removeOld(engine: Engine, volumes: readonly VolumeInfo[]): Promise<void> {
  const old = volumes.filter(
    (volume) => isOlder(volume, OLD_MS) && volumes.some(({ name }) => name === markOf(volume.name)),
  );
  const remove = async ({ name }: VolumeInfo): Promise<void> => {
    await engine.removeVolume(name);
    await engine.removeVolume(markOf(name));
  };
  await Promise.allSettled(old.map(remove));
}

/** Removes what servers have left that were killed while they filled a volume. */
async function removeLeft(engine: Engine, volumes: readonly VolumeInfo[]): Promise<void> {
  const containers = (await engine.listContainers(LABELS)).filter(isOld);
  await Promise.all(containers.map(({ id }) => engine.removeContainer(id)));
  const isMarked = ({ name }: VolumeInfo): boolean => volumes.some((other) => other.name === markOf(name));
  const isMark = ({ name }: VolumeInfo): boolean => volumes.some((other) => name === markOf(other.name));
  const left = volumes.filter((volume) => isOld(volume) && !isMarked(volume) && !isMark(volume));
  // One that a container has is not left over.
  await Promise.allSettled(left.map(({ name }) => engine.removeVolume(name)));
}

/** It ends well if Node runs and can read the agent. */
function fillingOf(image: string, volume: string): VolumeWork {
  return {
    image,
    name: `${volume}-fill`,
    labels: LABELS,
    volumes: [{ name: volume, target: SANDBOX.runtime }],
    command: [`${SANDBOX.runtime}/node`, '--check', `${SANDBOX.runtime}/sandbox-agent.mjs`],
    uid: 65_534,
    what: 'its runtime could not be read',
  };
}
