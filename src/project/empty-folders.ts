import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from '../lib/index.ts';
import type { FeaturePaths } from '../state/index.ts';
import type { Project } from './project.ts';

/** Removes the folders that a run has in the repository, as far as they hold nothing. The lock has been released. */
export async function removeEmptyFolders({ paths }: Project, run: FeaturePaths): Promise<void> {
  for (const folder of [run.requests, run.logs, run.folder]) await removeIfEmpty(folder);
  for (const folder of [paths.state, paths.logs, ...paths.formerly]) await removeIfOurs(folder);
}

/** Who has taken the lock since it was released has put it there again. */
async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  }
}

/** The folders that hold nothing but the ignore file that we put there. */
async function removeIfOurs(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length !== 1 || names[0] !== '.gitignore') return;
  await rm(path.join(folder, '.gitignore'), { force: true });
  await removeIfEmpty(folder);
}
