import { lstat, readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { isThere } from '../lib/index.ts';
import { persistent } from './persistent.ts';
import type { Found } from './persistent.ts';

/** Git names a record after the folder of the worktree, and adds a number when the name is taken. */
const OUR_RECORD = /^mahabharatha-worker-\d+$/;
const FORMER_RECORD = /^worker-\d+$/;
export const LOCK_REASON = 'a Mahabharatha worker uses it';

/**
 * Removes records of our worktrees that a killed git has left half written, and returns their names. With one of them
 * `git worktree list`, `git gc` and each new worktree fail. The caller holds the lock under which we add worktrees.
 */
export async function removeHalfRecords(commonDir: string): Promise<string[]> {
  return removeRecords(commonDir, isHalf);
}

/** Removes also those whose folder is gone: they are locked, so git would keep them for ever. */
export async function repairRecords(commonDir: string): Promise<string[]> {
  return removeRecords(commonDir, async (record) => (await isHalf(record)) || isAlone(record));
}

type Question = (record: string) => Promise<boolean>;

async function removeRecords(commonDir: string, isWrong: Question): Promise<string[]> {
  const folder = path.join(commonDir, 'worktrees');
  const wrong = await persistent(() => findRecords(folder, isWrong));
  for (const name of wrong) await rm(path.join(folder, name), { recursive: true, force: true });
  return wrong;
}

async function findRecords(folder: string, isWrong: Question): Promise<Found> {
  const names = await readdir(folder).catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const record = path.join(folder, name);
      const wrong = (await isOurs(record, name)) && (await isWrong(record));
      const stats = wrong ? await lstat(record).catch(() => undefined) : undefined;
      return stats === undefined ? [] : [[name, `${stats.ino} ${stats.mtimeMs}`] as const];
    }),
  );
  return new Map(found.flat());
}

/** Known by its name, which no worktree of the user's has. Those of earlier versions are known by their lock as well. */
async function isOurs(record: string, name: string): Promise<boolean> {
  if (OUR_RECORD.test(name)) return true;
  if (!FORMER_RECORD.test(name)) return false;
  return (await textOf(path.join(record, 'locked'))).trim() === LOCK_REASON;
}

async function isHalf(record: string): Promise<boolean> {
  const read = (name: string): Promise<string> => textOf(path.join(record, name));
  const [gitdir = '', commondir = '', head = ''] = await Promise.all(['gitdir', 'commondir', 'HEAD'].map(read));
  return !isWhole(gitdir) || !isWhole(commondir) || !/^(ref: refs\/\S+|[0-9a-f]{40,64})\n$/.test(head);
}

async function isAlone(record: string): Promise<boolean> {
  const gitdir = (await textOf(path.join(record, 'gitdir'))).trim();
  return !(await isThere(path.dirname(path.resolve(record, gitdir))));
}

/** Git ends each of these files with a line end. */
const isWhole = (text: string): boolean => /\S\n$/.test(text);

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
