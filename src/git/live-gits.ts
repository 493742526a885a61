import { readFile, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../lib/index.ts';

/**
 * May a git process be at work in one of these folders, or below? It is known by its name and its current folder. Without
 * /proc, or when that folder cannot be read, the answer is yes.
 */
export async function mayGitWorkIn(folders: readonly string[]): Promise<boolean> {
  const names = await readdir('/proc').catch((): string[] => []);
  const pids = names.filter((name) => /^\d+$/.test(name));
  if (pids.length === 0) return true;
  const places = await Promise.all(pids.map(folderOfGit));
  return places.some(
    (place) =>
      place === 'unknown' ||
      (place !== null && folders.some((folder) => place === folder || place.startsWith(folder + path.sep))),
  );
}

/** The current folder of a git process; null for another program, or none. */
async function folderOfGit(pid: string): Promise<string | null> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  if (!/^git(-|$)/m.test(name)) return null;
  try {
    return await readlink(`/proc/${pid}/cwd`);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? null : 'unknown';
  }
}
