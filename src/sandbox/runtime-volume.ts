import { randomBytes } from 'node:crypto';
import { LABEL } from '../containers/index.ts';
import type { Engine, VolumeInfo } from '../engines/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { workOnVolumes } from './work-on-volumes.ts';
import type { VolumeWork } from './work-on-volumes.ts';

const LABELS = { [LABEL.role]: 'runtime' };
/** No server takes so long to fill a volume: what is older and not filled is left over. */
const LEFT_MS = 10 * 60_000;

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

const markOf = (volume: string): string => `${volume}-filled`;
const isOld = ({ createdAt }: { readonly createdAt: string }): boolean => Date.now() - Date.parse(createdAt) > LEFT_MS;

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
