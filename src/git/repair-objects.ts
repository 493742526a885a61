import { lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/**
 * Removes loose objects that a loss of power has left as empty files, and returns their ids. Git takes such a file for the
 * object and does not write it again, so work that is done again would be broken too. An object that a git is writing is
 * safe: it gets its name when it is complete.
 */
export async function removeEmptyObjects(commonDir: string): Promise<string[]> {
  const top = path.join(commonDir, 'objects');
  const folders = (await readdir(top).catch((): string[] => [])).filter((name) => /^[0-9a-f]{2}$/.test(name));
  const removed: string[] = [];
  for (const folder of folders) {
    const names = await readdir(path.join(top, folder)).catch((): string[] => []);
    const empty = await Promise.all(names.map((name) => isEmptyObject(path.join(top, folder), name)));
    for (const name of names.filter((_, index) => empty[index])) {
      await rm(path.join(top, folder, name), { force: true });
      removed.push(folder + name);
    }
  }
  return removed;
}

async function isEmptyObject(folder: string, name: string): Promise<boolean> {
  if (!/^([0-9a-f]{38}|[0-9a-f]{62})$/.test(name)) return false;
  const stats = await lstat(path.join(folder, name)).catch(() => undefined);
  return stats !== undefined && stats.isFile() && stats.size === 0;
}
