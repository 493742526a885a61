import { readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  digestOf,
  atHome,
  checkPrivateFolder,
  isThere,
  libErrors,
  makePrivateFolder,
  modifiedAt,
  readJson,
  realPathOf,
  removeIfEmpty,
  removeTree,
  stateHome,
  writeFileAtomic,
} from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';

/** Short, because the path of a socket in a worktree may have about a hundred bytes at most. */
const READABLE = 24;
const HASH = 8;
/**
 * Longer than any lease, and longer than a disk is usually disconnected. This is by the wall clock; when it is a day ahead,
 * folders of a disconnected repository are removed early, and tasks whose results were not taken yet are done again.
 */
const GONE_MS = 24 * 3_600_000;

/** Where the files of one run's workers are kept: outside the repository, in a folder of this user alone. */
export interface RunPlace {
  /** The user's own folder, with mode 0700. */
  readonly top: string;
  readonly folder: string;
  /** The file that says where `folder` is, also when the configuration has changed since. */
  readonly record: string;
}

export type PlaceOf = (feature: string) => RunPlace;

/** What a record says: which run a folder belongs to. */
const runRecord = z.object({
  root: z.string(),
  feature: z.string(),
  top: z.string().refine((folder) => path.isAbsolute(folder)),
});
type RunRecord = z.infer<typeof runRecord>;

/** The folder of all runs of this user. */
const runsHome = (env: Environment): Promise<string> => realPathOf(path.join(stateHome(env), 'runs'));

function placeIn(home: string, { root, feature, top }: RunRecord): RunPlace {
  const key = repositoryKey(root);
  return { top, folder: path.join(top, key, feature), record: path.join(home, key, `${feature}.json`) };
}

/** `wished` is the folder in the configuration. A run that has begun in another folder stays there. */
export async function locateRuns(root: string, env: Environment, wished?: string): Promise<PlaceOf> {
  const home = await runsHome(env);
  const top = wished === undefined ? home : await realPathOf(path.join(atHome(wished, env), ownName()));
  const records = await readRecords(home, repositoryKey(root));
  const begun = new Map(records.map((record) => [record.feature, record.top]));
  return (feature) => placeIn(home, { root, feature, top: begun.get(feature) ?? top });
}

const ownName = (): string => `mahabharatha-${process.getuid?.() ?? 0}`;

/** The name is for people; the hash is different for repositories of the same name. */
export function repositoryKey(root: string): string {
  const hash = digestOf(root).slice(0, HASH);
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

/** Throws what `makeRunFolder` would throw, and makes nothing. */
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

/**
 * Removes folders of runs whose repository has been moved or removed, when they have not been used for a day. Returns
 * which repositories those were.
 */
export async function removeGoneRuns(env: Environment, now: number): Promise<string[]> {
  const home = await runsHome(env);
  const keys = await readdir(home).catch((): string[] => []);
  const records = (await Promise.all(keys.map((key) => readRecords(home, key)))).flat();
  const removed: string[] = [];
  for (const record of records) {
    const place = placeIn(home, record);
    if ((await isThere(path.join(record.root, '.git'))) || now - (await lastUse(place)) < GONE_MS) continue;
    await removeRunFolder(place);
    removed.push(record.root);
  }
  return removed;
}

async function lastUse({ folder, record }: RunPlace): Promise<number> {
  return Math.max(await modifiedAt(record), await modifiedAt(path.join(folder, 'shared', 'lease.json')));
}

async function readRecords(home: string, key: string): Promise<RunRecord[]> {
  const folder = path.join(home, key);
  const files = (await readdir(folder).catch((): string[] => [])).map((name) => path.join(folder, name));
  const records = await Promise.all(
    files.map(async (file) => {
      const record = readJson(runRecord, await readFile(file, 'utf8').catch(() => undefined));
      // A record counts only when it is where the record of its run would be.
      return record !== undefined && placeIn(home, record).record === file ? [record] : [];
    }),
  );
  return records.flat();
}
