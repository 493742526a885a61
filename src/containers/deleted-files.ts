import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';

/** More are not looked through: what is left of the disk is watched too. */
const MOST_FILES = 50_000;
const BLOCK_BYTES = 512;

/**
 * What files take on the disk that processes of a container have open and that have no name any more: no measuring of
 * folders finds them. Where the engine is not on this machine there are none to be seen.
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
