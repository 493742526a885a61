import { readlinkSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { readSystemFile } from '../lib/index.ts';

/** Only so many are looked at: the free space of the disk is watched as well. */
const MOST_FILES = 50_000;
const BLOCK_BYTES = 512;
/** How many small reads there are at a time: other work goes on in between. */
const AT_A_TIME = 64;

/** The types of file systems in memory, as `statfs` tells them: tmpfs, ramfs, hugetlbfs. */
const IN_MEMORY: ReadonlySet<number> = new Set([0x01021994, 0x858458f6, 0x958458f6]);

/**
 * Bytes on the disk of files that have no name any more and that processes of a container have open: to measure folders
 * does not find them. What is in memory counts there. None are seen when the engine is on another machine.
 */
export async function deletedBytes(containerId: string, proc = '/proc'): Promise<number> {
  const found = new Map<string, number>();
  let left = MOST_FILES;
  for (const pid of await processesOf(containerId, proc)) {
    const folder = path.join(proc, pid, 'fd');
    const open = (await namesIn(folder)).slice(0, left);
    left -= open.length;
    const files = open.map((name) => path.join(folder, name));
    for (const file of await chosen(files, mayBeDeleted)) {
      const facts = await stat(file).catch(() => undefined);
      if (facts?.isFile() === true && facts.nlink === 0 && !(await isInMemory(file)))
        found.set(`${facts.dev} ${facts.ino}`, facts.blocks * BLOCK_BYTES);
    }
  }
  return [...found.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** A machine may have thousands of processes. To read what the kernel has in memory at once costs a tenth of a promise. */
async function processesOf(containerId: string, proc: string): Promise<string[]> {
  const pids = (await namesIn(proc)).filter((name) => /^\d+$/.test(name));
  return chosen(pids, (pid) => readSystemFile(path.join(proc, pid, 'cgroup')).includes(containerId));
}

/** By its name, which is no question to the file system that it is on: that may hang. One whose name is too long may be. */
function mayBeDeleted(file: string): boolean {
  try {
    return readlinkSync(file).endsWith(' (deleted)');
  } catch {
    return true;
  }
}

async function isInMemory(file: string): Promise<boolean> {
  return statfs(file).then(
    ({ type }) => IN_MEMORY.has(type),
    () => false,
  );
}

async function chosen(names: readonly string[], isRight: (name: string) => boolean): Promise<string[]> {
  const right: string[] = [];
  for (let at = 0; at < names.length; at += AT_A_TIME) {
    if (at > 0) await turn();
    right.push(...names.slice(at, at + AT_A_TIME).filter(isRight));
  }
  return right;
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);
