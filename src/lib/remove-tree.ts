import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './errors.ts';

/** Somebody may have a file open still, or a network file system may keep one for a moment. */
const PATIENT = { recursive: true, force: true, maxRetries: 8, retryDelay: 250 } as const;

/** Removes a tree, also one whose owner has taken away his own rights in it. Nobody else may be at work there. */
export async function removeTree(entry: string): Promise<void> {
  try {
    await rm(entry, PATIENT);
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error;
    await openFolders(entry);
    await rm(entry, PATIENT);
  }
}

/** Gives the owner of all folders of a tree his rights back. No link is followed. */
export async function openFolders(entry: string): Promise<void> {
  const stat = await lstat(entry).catch(() => undefined);
  if (stat === undefined || !stat.isDirectory()) return;
  if ((stat.mode & 0o700) !== 0o700) await chmod(entry, stat.mode | 0o700);
  for (const child of await readdir(entry, { withFileTypes: true })) {
    if (child.isDirectory()) await openFolders(path.join(entry, child.name));
  }
}
