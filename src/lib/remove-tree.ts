import { chmod, lstat, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './app-error.ts';
import { isMissing } from './if-there.ts';
import { run } from './process.ts';

/** An ending process may still write, and a network file system may keep a file for a moment. */
const RETRIED = { recursive: true, force: true, maxRetries: 8, retryDelay: 250 } as const;

/** Removes a tree, also when folders in it forbid that to their owner. No other process may be at work in it. */
export async function removeTree(entry: string): Promise<void> {
  const steps = [removePlain, removeClosed, removeDeep];
  for (const [index, step] of steps.entries()) {
    try {
      return await step(entry);
    } catch (error) {
      const known = ['EACCES', 'ENAMETOOLONG'].includes(systemCode(error) ?? '');
      if (!known || index === steps.length - 1) throw error;
    }
  }
}

const removePlain = (entry: string): Promise<void> => rm(entry, RETRIED);

async function removeClosed(entry: string): Promise<void> {
  await openFolders(entry);
  await rm(entry, RETRIED);
}

/** For a tree whose paths are too long: the system's own programs walk by open folders, and follow no link. */
async function removeDeep(entry: string): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- its own
  const options = { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const folder = path.resolve(entry);
  await run('chmod', ['-R', 'u+rwx', '--', folder], options);
  await run('rm', ['-rf', '--', folder], options);
  // Throws when something is left.
  await rm(entry, RETRIED);
}

/** Gives the owner all rights to the folders of a tree. No link is followed. */
export async function openFolders(entry: string): Promise<void> {
  const stat = await lstat(entry).catch(() => undefined);
  if (stat === undefined || !stat.isDirectory()) return;
  if ((stat.mode & 0o700) !== 0o700) await chmod(entry, stat.mode | 0o700);
  for (const child of await readdir(entry, { withFileTypes: true })) {
    if (child.isDirectory()) await openFolders(path.join(entry, child.name));
  }
}

/** Removes a folder if it is empty. */
export async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!isMissing(error) && !['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  });
}
