import { chmod, lstat, readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './app-error.ts';
import { isMissing } from './if-there.ts';
import { run } from './process.ts';

/** A process may have a file open still, or a network file system may keep one for a moment. */
const PATIENT = { recursive: true, force: true, maxRetries: 8, retryDelay: 250 } as const;

/** Removes a tree, also one whose owner has taken away the own rights in it. Nothing else may be at work there. */
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

const removePlain = (entry: string): Promise<void> => rm(entry, PATIENT);

async function removeClosed(entry: string): Promise<void> {
  await openFolders(entry);
  await rm(entry, PATIENT);
}

/** Deeper than any path may be long: the system's own programs go down by open folders, and follow no link. */
async function removeDeep(entry: string): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- its own
  const options = { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' } };
  const folder = path.resolve(entry);
  await run('chmod', ['-R', 'u+rwx', '--', folder], options);
  await run('rm', ['-rf', '--', folder], options);
  // Says what is in the way, if anything is.
  await rm(entry, PATIENT);
}

/** Gives the owner of all folders of a tree the rights back. No link is followed. */
export async function openFolders(entry: string): Promise<void> {
  const stat = await lstat(entry).catch(() => undefined);
  if (stat === undefined || !stat.isDirectory()) return;
  if ((stat.mode & 0o700) !== 0o700) await chmod(entry, stat.mode | 0o700);
  for (const child of await readdir(entry, { withFileTypes: true })) {
    if (child.isDirectory()) await openFolders(path.join(entry, child.name));
  }
}

/** Removes a folder in which there is nothing. */
export async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!isMissing(error) && !['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  });
}
