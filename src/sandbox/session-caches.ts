import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LABEL } from '../containers/index.ts';
import type { Engine, Labels, VolumeInfo } from '../engines/index.ts';
import { digestOf, makePrivateFolder, modifiedAt, reasonOf, removeTree, tryLock } from '../lib/index.ts';
import { SANDBOX } from '../protocol/index.ts';
import { sandboxErrors } from './errors.ts';
import type { Users } from './users.ts';
import { workOnVolumes } from './work-on-volumes.ts';
import type { VolumeWork } from './work-on-volumes.ts';

/** Folders of a workspace that are kept, and what the names of their volumes end with. */
const KEPT = { node_modules: 'node-modules', '.venv': 'venv' } as const;
const ROLE = 'session-cache';
const NODE = `${SANDBOX.runtime}/node`;
const EMPTY = [NODE, `${SANDBOX.runtime}/empty-folders.mjs`] as const;
const OWN = [NODE, `${SANDBOX.runtime}/own-folders.mjs`] as const;
/** Of volumes that do not say whose they are: those of older versions. */
const FORMER_USER = 70_000;
/** A cache that no session had for so long goes. */
const OLD_MS = 30 * 24 * 60 * 60_000;
/** Of one user: with one more, the one goes that was used least lately. */
const MOST = 32;

export type SessionCaches = ReturnType<typeof sessionCaches>;

/** The cache of one project of one user for one runtime, held by one session. */
export interface SessionCache {
  readonly id: string;
  readonly volumes: readonly CacheVolume[];
  /** Whose files are in it. */
  readonly uid: number;
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
  /** What programs run as. */
  readonly users: Pick<Users, 'ofCache'>;
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
    // A hint: without it the cache counts as old a little earlier.
    await used(place, id).catch(() => undefined);
    await lock.release();
  };
  try {
    await removeLeft(place, id);
    const of = { [LABEL.sessionCacheOf]: digestOf(user).slice(0, 24) };
    const cache = await known(place, id, of);
    if (!cache.isWhole) {
      await makeRoom(place, of);
      await make(place, cache);
    }
    await used(place, id);
    return { id, volumes: volumesOf(id), uid: cache.uid, empty: () => empty(place, cache), release };
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

interface Known {
  readonly id: string;
  readonly uid: number;
  /** Of its volumes: those of older versions have fewer, and an engine changes none. */
  readonly labels: Labels;
  readonly isWhole: boolean;
}

/** What is there of a cache. */
async function known(place: Place, id: string, of: Labels = {}): Promise<Known> {
  const there = await place.engine.listVolumes(labelsOf(place, id));
  const isThere = there.length === volumesOf(id).length;
  const [first] = there;
  const uid =
    first === undefined ? place.users.ofCache(id) : Number(first.labels[LABEL.sessionCacheUser] ?? FORMER_USER);
  const labels = first?.labels ?? { ...labelsOf(place, id), ...of, [LABEL.sessionCacheUser]: String(uid) };
  return { id, uid, labels, isWhole: isThere && (await modifiedAt(markOf(place, id))) > 0 };
}

/** Removes the containers that killed servers have left with the cache: they may still write to it. */
async function removeLeft({ engine }: Place, id: string): Promise<void> {
  const left = await engine.listContainers({ [LABEL.sessionCache]: id });
  await Promise.all(left.map((container) => engine.removeContainer(container.id)));
}

async function make(place: Place, cache: Known): Promise<void> {
  const { id, uid, labels } = cache;
  await removeTree(markOf(place, id));
  for (const { name } of volumesOf(id)) await place.engine.createVolume(name, labels);
  const command = [...OWN, String(uid), ...foldersOf(id)] as const;
  await work(place, cache, { command, givesFiles: true, what: 'a cache could not be made' });
}

/** From inside, at any depth: to remove a volume with a deep tree, the engine would use up its descriptors. */
async function empty(place: Place, cache: Known): Promise<void> {
  await work(place, cache, { command: [...EMPTY, ...foldersOf(cache.id)], what: 'a cache could not be emptied' });
}

const placeOf = (folder: CacheVolume['folder']): string => `${SANDBOX.caches}/${folder}`;
const foldersOf = (id: string): string[] => volumesOf(id).map(({ folder }) => placeOf(folder));

function work(
  place: Place,
  { id, uid }: Known,
  wish: Pick<VolumeWork, 'command' | 'what' | 'givesFiles'>,
): Promise<void> {
  const { engine, image } = place;
  const volumes = volumesOf(id).map(({ name, folder }) => ({ name, target: placeOf(folder) }));
  const name = `mahabharatha-session-cache-${id}-work`;
  return workOnVolumes(engine, { image, uid, name, labels: labelsOf(place, id), volumes, ...wish });
}

async function remove(place: Place, id: string): Promise<void> {
  await removeLeft(place, id);
  const cache = await known(place, id);
  await make(place, cache);
  await empty(place, cache);
  await removeTree(markOf(place, id));
  for (const { name } of volumesOf(id)) await place.engine.removeVolume(name);
}

/** False when a session has it. */
async function removeFree(place: Place, id: string): Promise<boolean> {
  const lock = await tryLock(await lockOf(place, id));
  if (!lock.taken) return false;
  try {
    await remove(place, id);
  } finally {
    await lock.release();
  }
  return true;
}

interface Used {
  readonly id: string;
  readonly at: number;
}

/** The caches with these labels and when they were used, the longest unused first. */
async function leastUsed(place: Place, labels: Labels): Promise<Used[]> {
  const volumes = await place.engine.listVolumes({ ...own(place), ...labels });
  const ids = new Set(volumes.flatMap((volume) => volume.labels[LABEL.sessionCache] ?? []));
  const ofCache = (id: string) => volumes.filter((volume) => volume.labels[LABEL.sessionCache] === id);
  const caches = await Promise.all([...ids].map(async (id) => ({ id, at: await lastUse(place, id, ofCache(id)) })));
  return caches.toSorted((one, other) => one.at - other.at);
}

/** What cannot be removed now is tried again with the next new cache. */
async function makeRoom(place: Place, of: Labels): Promise<void> {
  const caches = await leastUsed(place, of);
  let left = caches.length;
  for (const { id } of caches) if (left >= MOST && (await removeFree(place, id).catch(() => false))) left -= 1;
}

async function removeOld(place: Place): Promise<string[]> {
  const notes: string[] = [];
  for (const { id, at } of await leastUsed(place, {})) {
    if (Date.now() - at < OLD_MS) break;
    try {
      if (await removeFree(place, id)) notes.push(`removed the cache ${id} of a project: it was not used for 30 days`);
    } catch (error) {
      notes.push(`the old cache ${id} could not be removed: ${reasonOf(error)}`);
    }
  }
  return notes;
}

async function lastUse(place: Place, id: string, volumes: readonly VolumeInfo[]): Promise<number> {
  const at = await modifiedAt(markOf(place, id));
  return at > 0 ? at : Math.max(...volumes.map(({ createdAt }) => Date.parse(createdAt)));
}
