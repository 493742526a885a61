import { createHash } from 'node:crypto';
import { readFile, readdir, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  atHome,
  checkPrivateFolder,
  libErrors,
  makePrivateFolder,
  realPathOf,
  removeTree,
  stateHome,
  systemCode,
  writeFileAtomic,
} from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';

/** Sockets in a worktree have a path of about a hundred bytes at most: ours is to leave room. */
const READABLE = 24;
const HASH = 8;
/**
 * Longer than any lease, and than a disk is usually away. By the wall clock: one that is a day ahead takes folders of a
 * repository that is away, and what is lost are results that were not taken yet, so their tasks are done again.
 */
const GONE_MS = 24 * 3_600_000;

/** Where what the workers of one run write is kept: outside the repository, where no other user can enter. */
export interface RunPlace {
  /** The user's own folder, with mode 0700. */
  readonly top: string;
  readonly folder: string;
  /** Tells where `folder` is, whatever the configuration says by now. */
  readonly record: string;
}

export type PlaceOf = (feature: string) => RunPlace;

/** What a record says: which run a folder belongs to. */
export interface RunRecord {
  readonly root: string;
  readonly feature: string;
  readonly top: string;
}

/** The user's own folder for all of this. */
export function runsHome(env: Environment): string {
  return path.join(stateHome(env), 'runs');
}

/** `wished`: the folder of the configuration. A run that was begun elsewhere stays there. */
export async function locateRuns(root: string, env: Environment, wished?: string): Promise<PlaceOf> {
  const home = await realPathOf(runsHome(env));
  const top = wished === undefined ? home : await realPathOf(path.join(atHome(wished, env), ownName()));
  const key = repositoryKey(root);
  const begun = new Map((await readRecords(home, key)).map((record) => [record.feature, record.top]));
  return (feature) => {
    const own = begun.get(feature) ?? top;
    return { top: own, folder: path.join(own, key, feature), record: path.join(home, key, `${feature}.json`) };
  };
}

const ownName = (): string => `mahabharatha-${process.getuid?.() ?? 0}`;

/** The name is for people, the hash tells repositories of one name apart. */
export function repositoryKey(root: string): string {
  const hash = createHash('sha256').update(root).digest('hex').slice(0, HASH);
  const readable = path
    .basename(root)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .replace(/^[.-]/, '_');
  return `${readable.slice(0, READABLE)}-${hash}`;
}

/** The caller holds the feature's lock. */
export async function makeRunFolder(root: string, feature: string, { top, folder, record }: RunPlace): Promise<void> {
  const home = path.dirname(path.dirname(record));
  for (const one of new Set([home, top])) {
    checkOutside(root, one);
    await makePrivateFolder(one);
  }
  await makePrivateFolder(path.dirname(record));
  await writeFileAtomic(record, JSON.stringify({ version: 1, root, feature, top }), { durable: true });
  for (const one of [path.dirname(folder), folder]) await makePrivateFolder(one);
}

function checkOutside(root: string, folder: string): void {
  if (folder !== root && !folder.startsWith(root + path.sep)) return;
  const reason = 'it is in the repository, where your own tools would run the files of workers';
  throw libErrors.FOLDER_UNSAFE({ folder, reason });
}

/** Refuses as the start of a run would, and makes nothing. */
export async function checkRunPlace(root: string, { top }: Pick<RunPlace, 'top'>): Promise<void> {
  checkOutside(root, top);
  await checkPrivateFolder(top);
}

/** The record goes last: until then the folder can be found. */
export async function removeRunFolder({ folder, record }: RunPlace): Promise<void> {
  await removeTree(folder);
  await rm(record, { force: true });
  for (const one of new Set([path.dirname(folder), path.dirname(record)])) await removeIfEmpty(one);
}

/** All runs of this user that have a folder, in whatever repository. */
export async function allRuns(env: Environment): Promise<RunRecord[]> {
  const home = await realPathOf(runsHome(env));
  const keys = await readdir(home).catch((): string[] => []);
  return (await Promise.all(keys.map((key) => readRecords(home, key)))).flat();
}

/**
 * Removes folders of runs whose repository has been moved or removed, when they have not been used for a day. Returns
 * which repositories those were.
 */
export async function removeGoneRuns(env: Environment, now: number): Promise<string[]> {
  const home = await realPathOf(runsHome(env));
  const removed: string[] = [];
  for (const { root, feature, top } of await allRuns(env)) {
    const key = repositoryKey(root);
    const place = { top, folder: path.join(top, key, feature), record: path.join(home, key, `${feature}.json`) };
    if (!(await isGone(path.join(root, '.git'))) || now - (await lastUse(place)) < GONE_MS) continue;
    await removeRunFolder(place);
    removed.push(root);
  }
  return removed;
}

/** What cannot be looked at may be there. */
async function isGone(file: string): Promise<boolean> {
  return stat(file).then(
    () => false,
    (error: unknown) => ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? ''),
  );
}

async function lastUse({ folder, record }: RunPlace): Promise<number> {
  const times = [record, path.join(folder, 'shared', 'lease.json')].map((file) =>
    stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    ),
  );
  return Math.max(...(await Promise.all(times)));
}

async function readRecords(home: string, key: string): Promise<RunRecord[]> {
  const folder = path.join(home, key);
  const names = (await readdir(folder).catch((): string[] => [])).filter((name) => /^[^.].*\.json$/.test(name));
  const records = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8').catch(() => '')));
  // A record is believed only when it stands where a record of its run would stand.
  return records
    .map(parseRecord)
    .filter(
      (record, index) =>
        record !== undefined && repositoryKey(record.root) === key && `${record.feature}.json` === names[index],
    ) as RunRecord[];
}

function parseRecord(text: string): RunRecord | undefined {
  try {
    const value = JSON.parse(text) as Partial<RunRecord> | null;
    const [root, feature, top] = [value?.root, value?.feature, value?.top];
    if (typeof root !== 'string' || typeof feature !== 'string' || typeof top !== 'string') return undefined;
    return path.isAbsolute(top) ? { root, feature, top } : undefined;
  } catch {
    return undefined;
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw error;
  });
}
