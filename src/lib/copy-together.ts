import { cp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Copies files, named by their paths below `root`, into a new folder. Who reads meanwhile finds the old files or the new ones. */
export async function copyTogether(root: string, files: readonly string[], folder: string): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  for (const file of files) {
    const target = path.join(draft, file);
    await makeFolder(path.dirname(target));
    await cp(path.join(root, file), target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  }
  await rm(folder, { recursive: true, force: true });
  if (files.length > 0) await rename(draft, folder);
}
