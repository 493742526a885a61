import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LABEL } from '../containers/index.ts';
import type { Engine, Labels, VolumeInfo } from '../engines/index.ts';
import { digestOf, makePrivateFolder, modifiedAt, reasonOf, removeTree, tryLock } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import { workOnVolumes } from './work-on-volumes.ts';
import type { VolumeWork } from './work-on-volumes.ts';

/** Folders of a workspace that are kept, and what the names of their volumes end with. */
const KEPT = { node_modules: 'node-modules', '.venv': 'venv' } as const;
const ROLE = 'session-cache';
const EMPTY = [`${SANDBOX.runtime}/node`, `${SANDBOX.runtime}/empty-folders.mjs`] as const;
/** A cache that no session had for so long goes. */
const OLD_MS = 30 * 24 * 60 * 60_000;

export type SessionCaches = ReturnType<typeof sessionCaches>;

/** The cache of one project of one user for one runtime, held by one session. */
export interface SessionCache {
  readonly id: string;
  readonly volumes: readonly CacheVolume[];
  /** No container may have it. */
  empty(): Promise<void>;
  /** Another session may have it. */
  release(): Promise<void>;
}

interface CacheVolume {
  readonly name: string;
  /** Of the workspace. */
  readonly folder: keyof typeof KEPT;
}

interface Place {
  readonly engine: Engine;
  /** Of the servers of one user of this machine: a lock and the time of the last use for each cache. */
  readonly folder: string;
  /** By which people find the volumes. */
  readonly labels: Labels;
  /** That of the sandbox agent. */
  readonly image: string;
  /** Whose files are in caches. */
  readonly uid: number;
}

interface CacheKey {
  readonly user: string;
  readonly project: string;
  readonly runtime: string;
}

/** Volumes that stay when sessions and servers end. The lock of a cache goes with the process that holds it. */
export function sessionCaches(place: Place) {
  return {
    /** Throws CACHE_BUSY. */
    take: (key: CacheKey): Promise<SessionCache> => take(place, key),
    /** Removes those that were not used for long, and returns a text for each. */
    removeOld: (): Promise<string[]> => removeOld(place),
  };
}

async function take(place: Place, { user, project, runtime }: CacheKey): Promise<SessionCache> {
  const { labels } = place;
  const id = digestOf(JSON.stringify([labels, user, project, runtime])).slice(0, 24);
  const lock = await tryLock(await lockOf(place, id));
  if (!lock.taken) throw sandboxErrors.CACHE_BUSY({ project, runtime });
  const release = async (): Promise<void> => {
    await used(place, id);
    await lock.release();
  };
  try {
    await removeLeft(place, id);
    if (!(await isWhole(place, id))) await make(place, id);
    await used(place, id);
    return { id, volumes: volumesOf(id), empty: () => empty(place, id), release };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function lockOf({ folder }: Place, id: string): Promise<string> {
  await makePrivateFolder(folder);
  return path.join(folder, `${id}.lock`);
}

/** Its modification time is that of the last use. It is there only when both volumes are ready. */
const markOf = ({ folder }: Place, id: string): string => path.join(folder, `${id}.used`);
const used = (place: Place, id: string): Promise<void> => writeFile(markOf(place, id), '');
const labelsOf = (place: Place, id: string): Labels => ({ ...own(place), [LABEL.sessionCache]: id });
const own = ({ labels }: Place): Labels => ({ ...labels, [LABEL.role]: ROLE });

function volumesOf(id: string): CacheVolume[] {
  const folders = Object.keys(KEPT) as CacheVolume['folder'][];
  return folders.map((folder) => ({ folder, name: `mahabharatha-session-cache-${id}-${KEPT[folder]}` }));
}

async function isWhole(place: Place, id: string): Promise<boolean> {
  const there = await place.engine.listVolumes(labelsOf(place, id));
  const isThere = there.length === volumesOf(id).length;
  return isThere && (await modifiedAt(markOf(place, id))) > 0;
}

/** Removes the containers that killed servers have left with the cache: they may still write to it. */
async function removeLeft({ engine }: Place, id: string): Promise<void> {
  const left = await engine.listContainers({ [LABEL.sessionCache]: id });
  await Promise.all(left.map((container) => engine.removeContainer(container.id)));
}

async function make(place: Place, id: string): Promise<void> {
  await removeTree(markOf(place, id));
  for (const { name } of volumesOf(id)) await place.engine.createVolume(name, labelsOf(place, id));
  await work(place, id, { command: ['true'], what: 'a cache could not be made' });
}

/** From inside, at any depth: to remove a volume with a deep tree, the engine would use up its descriptors. */
async function empty(place: Place, id: string): Promise<void> {
  const folders = volumesOf(id).map(({ folder }) => placeOf(folder));
  await work(place, id, { command: [...EMPTY, ...folders], what: 'a cache could not be emptied' });
}

/** Each in the place of a folder of the image whose owner and rights a new volume takes over. */
const placeOf = (folder: CacheVolume['folder']): string => `${SANDBOX.caches}/${folder}`;

function work(place: Place, id: string, wish: Pick<VolumeWork, 'command' | 'what'>): Promise<void> {
  const { engine, image, uid } = place;
  const volumes = volumesOf(id).map(({ name, folder }) => ({ name, target: placeOf(folder) }));
  const name = `mahabharatha-session-cache-${id}-work`;
  return workOnVolumes(engine, { image, uid, name, labels: labelsOf(place, id), volumes, ...wish });
}

async function remove(place: Place, id: string): Promise<void> {
  await removeLeft(place, id);
  await make(place, id);
  await empty(place, id);
  await removeTree(markOf(place, id));
  for (const { name } of volumesOf(id)) await place.engine.removeVolume(name);
}

async function removeOld(place: Place): Promise<string[]> {
  const volumes = await place.engine.listVolumes(own(place));
  const ids = new Set(volumes.flatMap(({ labels }) => labels[LABEL.sessionCache] ?? []));
  const notes: string[] = [];
  for (const id of ids) {
    const ofCache = volumes.filter(({ labels }) => labels[LABEL.sessionCache] === id);
    if (Date.now() - (await lastUse(place, id, ofCache)) < OLD_MS) continue;
    const lock = await tryLock(await lockOf(place, id));
    if (!lock.taken) continue;
    try {
      await remove(place, id);
      notes.push(`removed the cache ${id} of a project: it was not used for 30 days`);
    } catch (error) {
      notes.push(`the old cache ${id} could not be removed: ${reasonOf(error)}`);
    } finally {
      await lock.release();
    }
  }
  return notes;
}

async function lastUse(place: Place, id: string, volumes: readonly VolumeInfo[]): Promise<number> {
  const at = await modifiedAt(markOf(place, id));
  return at > 0 ? at : Math.max(...volumes.map(({ createdAt }) => Date.parse(createdAt)));
}
