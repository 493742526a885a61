import { readFile, readdir, readlink } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../lib/index.ts';

/**
 * May a live git be at work in one of these folders, or below? It is known by its name and where it runs. One whose folder
 * cannot be seen may be anywhere, and where there is no /proc none can be ruled out.
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

/** Where a process runs; null when it is no git, or gone. */
async function folderOfGit(pid: string): Promise<string | null> {
  const name = await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '');
  if (!/^git(-|$)/m.test(name)) return null;
  try {
    return await readlink(`/proc/${pid}/cwd`);
  } catch (error) {
    return systemCode(error) === 'ENOENT' ? null : 'unknown';
  }
}
