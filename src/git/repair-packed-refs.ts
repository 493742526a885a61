import { lstat, rm } from 'node:fs/promises';
import path from 'node:path';
import { lasting } from './lasting.ts';
import type { Found } from './lasting.ts';
import { mayGitWorkIn } from './live-gits.ts';

/** Its lock, and what is to replace it: a git that finds either of another git removes no ref. */
const HALF = ['packed-refs.lock', 'packed-refs.new'];

/**
 * Removes what a git that was killed has left while it wrote `packed-refs`. All gits of the repository write that file, the
 * user's too: what changes, or may be of a git that lives, stays. Returns the names.
 */
export async function repairPackedRefs(
  commonDir: string,
  worktrees: () => Promise<{ folder: string }[]>,
): Promise<string[]> {
  const left = await lasting(() => findHalf(commonDir));
  if (left.length === 0) return [];
  const folders = (await worktrees()).map(({ folder }) => folder);
  if (await mayGitWorkIn([commonDir, ...folders])) return [];
  for (const name of left) await rm(path.join(commonDir, name), { force: true });
  return left;
}

/** While one of them changes, the other is in use too. */
async function findHalf(commonDir: string): Promise<Found> {
  const stats = await Promise.all(HALF.map((name) => lstat(path.join(commonDir, name)).catch(() => undefined)));
  const identity = stats.map((one) => `${one?.ino} ${one?.size} ${one?.mtimeMs}`).join();
  return new Map(HALF.filter((_, index) => stats[index] !== undefined).map((name) => [name, identity]));
}
