import { cp, lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { undefinedIfMissing } from '../lib/index.ts';

/**
 * Copies files into a worktree: those that are missing there, and those that a task has changed, so that the next task does
 * not see the change. Returns whether it has copied any.
 */
export async function copyFiles(copies: string, folder: string): Promise<boolean> {
  let copied = false;
  const wanted = async (source: string, target: string): Promise<boolean> => {
    const [from, to] = await Promise.all([lstat(source), lstat(target).catch(undefinedIfMissing)]);
    if (from.isDirectory()) return true;
    const same =
      from.isFile() &&
      to?.isFile() === true &&
      from.size === to.size &&
      from.mode === to.mode &&
      // A copied time may be less exact.
      Math.abs(from.mtimeMs - to.mtimeMs) <= 1;
    copied ||= !same;
    return !same;
  };
  if ((await lstat(copies).catch(undefinedIfMissing)) === undefined) return false;
  await cp(copies, folder, {
    recursive: true,
    force: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    filter: wanted,
  });
  return copied;
}

/** The files that are copied, by their paths in the worktree. */
export async function copiedFiles(copies: string): Promise<readonly string[]> {
  const entries = await readdir(copies, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map(({ parentPath, name }) => path.relative(copies, path.join(parentPath, name)));
}
