import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { lasting } from './lasting.ts';
import type { Found } from './lasting.ts';
import { mayGitWorkIn } from './live-gits.ts';

/** Its lock, and what is to replace it: a git that finds either of another git removes no ref. */
const PACKED_REFS = ['packed-refs.lock', 'packed-refs.new'];
/** Where git keeps many new objects until all of them are on the disk. */
const NEW_OBJECTS = /^tmp_objdir-bulk-fsync-/;

/**
 * Removes what a git that was killed has left half written of `packed-refs` and of new objects. All gits of the repository
 * write there, the user's too: what changes, or may be of a git that lives, stays. Returns the names.
 */
export async function removeHalves(
  commonDir: string,
  worktrees: () => Promise<{ folder: string }[]>,
): Promise<string[]> {
  const left = await lasting(() => findHalves(commonDir));
  if (left.length === 0) return [];
  const folders = (await worktrees()).map(({ folder }) => folder);
  if (await mayGitWorkIn([commonDir, ...folders])) return [];
  for (const name of left) await rm(path.join(commonDir, name), { recursive: true, force: true });
  return left;
}

/** While one of them changes, the others may be in use too. */
async function findHalves(commonDir: string): Promise<Found> {
  const inObjects = await readdir(path.join(commonDir, 'objects')).catch((): string[] => []);
  const drafts = inObjects.filter((name) => NEW_OBJECTS.test(name)).map((name) => path.join('objects', name));
  const names = [...PACKED_REFS, ...drafts];
  const stats = await Promise.all(names.map((name) => lstat(path.join(commonDir, name)).catch(() => undefined)));
  const identity = stats.map((one) => `${one?.ino} ${one?.size} ${one?.mtimeMs}`).join();
  return new Map(names.filter((_, index) => stats[index] !== undefined).map((name) => [name, identity]));
}
