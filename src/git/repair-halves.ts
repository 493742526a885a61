import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { persistent } from './persistent.ts';
import type { Found } from './persistent.ts';
import { mayGitWorkIn } from './live-gits.ts';

/** Its lock and its next version: while either is there, no git removes a ref. */
const PACKED_REFS = ['packed-refs.lock', 'packed-refs.new'];
/** Where git keeps many new objects until all of them are on the disk. */
const NEW_OBJECTS = /^tmp_objdir-bulk-fsync-/;

/**
 * Removes what a killed git has left half written of `packed-refs` and of new objects, and returns the names. The user's
 * own git writes there too: what changes, or may belong to a running git, stays.
 */
export async function removeHalves(
  commonDir: string,
  worktrees: () => Promise<{ folder: string }[]>,
): Promise<string[]> {
  const left = await persistent(() => findHalves(commonDir));
  if (left.length === 0) return [];
  const folders = (await worktrees()).map(({ folder }) => folder);
  if (await mayGitWorkIn([commonDir, ...folders])) return [];
  for (const name of left) await rm(path.join(commonDir, name), { recursive: true, force: true });
  return left;
}

/** All have one identity: while one of them changes, the others may be in use too. */
async function findHalves(commonDir: string): Promise<Found> {
  const inObjects = await readdir(path.join(commonDir, 'objects')).catch((): string[] => []);
  const drafts = inObjects.filter((name) => NEW_OBJECTS.test(name)).map((name) => path.join('objects', name));
  const names = [...PACKED_REFS, ...drafts];
  const stats = await Promise.all(names.map((name) => lstat(path.join(commonDir, name)).catch(() => undefined)));
  const identity = stats.map((one) => `${one?.ino} ${one?.size} ${one?.mtimeMs}`).join();
  return new Map(names.filter((_, index) => stats[index] !== undefined).map((name) => [name, identity]));
}
