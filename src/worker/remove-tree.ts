import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { removeTree } from '../lib/index.ts';

/** What cannot be removed stays: a later step that needs the place reports it. */
export async function removeIfPossible(entry: string): Promise<void> {
  await removeTree(entry).catch(() => undefined);
}

/** The folders themselves stay. */
export async function emptyFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const names = await readdir(folder).catch((): string[] => []);
    await Promise.all(names.map((name) => removeIfPossible(path.join(folder, name))));
  }
}
