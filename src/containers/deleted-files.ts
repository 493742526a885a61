import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** Only so many are looked at: the free space of the disk is watched as well. */
const MOST_FILES = 50_000;
const BLOCK_BYTES = 512;

/**
 * Bytes on the disk of files that have no name any more and that processes of a container have open: to measure folders
 * does not find them. None are seen when the engine is on another machine.
 */
export async function deletedBytes(containerId: string, proc = '/proc'): Promise<number> {
  const pids = (await namesIn(proc)).filter((name) => /^\d+$/.test(name));
  const isInside = async (pid: string): Promise<boolean> =>
    (await readFile(path.join(proc, pid, 'cgroup'), 'utf8').catch(() => '')).includes(containerId);
  const inside = await Promise.all(pids.map(isInside));
  const found = new Map<string, number>();
  let left = MOST_FILES;
  for (const pid of pids.filter((_, index) => inside[index])) {
    const folder = path.join(proc, pid, 'fd');
    const open = (await namesIn(folder)).slice(0, left);
    left -= open.length;
    for (const name of open) {
      const file = await stat(path.join(folder, name)).catch(() => undefined);
      if (file?.isFile() === true && file.nlink === 0) found.set(`${file.dev} ${file.ino}`, file.blocks * BLOCK_BYTES);
    }
  }
  return [...found.values()].reduce((sum, bytes) => sum + bytes, 0);
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
