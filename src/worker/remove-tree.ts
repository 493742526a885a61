import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import path from 'node:path';

/** What cannot be removed is left: whomever it hinders says so. */
export async function removeTree(entry: string): Promise<void> {
  await openUp(entry).catch(() => undefined);
  await rm(entry, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
}

/** The folders themselves stay. */
export async function emptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch((): string[] => []);
    await Promise.all(names.map((name) => removeTree(path.join(folder, name))));
  }
}

/** A task may have taken its own user's rights away from folders; then nothing in them could be removed. */
async function openUp(entry: string): Promise<void> {
  if (!(await lstat(entry)).isDirectory()) return;
  await chmod(entry, 0o700);
  for (const child of await readdir(entry, { withFileTypes: true })) {
    if (child.isDirectory()) await openUp(path.join(entry, child.name));
  }
}
