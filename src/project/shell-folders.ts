import { readdir } from 'node:fs/promises';
import path from 'node:path';
import {
  isThere,
  lockHolder,
  makePrivateFolder,
  modifiedAt,
  randomId,
  removeIfEmpty,
  removeTree,
  tryLock,
} from '../lib/index.ts';
import type { Project } from './project.ts';

const LOCK = 'lock.json';
/** A folder without a lock is being made, or is a remainder. */
const MAKING_MS = 60_000;

/** What the container of a shell writes: in a folder of its own beside those of runs, held by a lock as long as it lives. */
export interface ShellFolder {
  readonly id: string;
  readonly folder: string;
  readonly lock: string;
  remove(): Promise<void>;
}

const topOf = ({ paths }: Project, feature: string): string => path.join(paths.placeOf(feature).top, 'shells');

export async function makeShellFolder(project: Project, feature: string): Promise<ShellFolder> {
  const top = topOf(project, feature);
  const id = randomId();
  const folder = path.join(top, id);
  const lock = path.join(folder, LOCK);
  for (const made of [path.dirname(top), top, folder]) await makePrivateFolder(made);
  await tryLock(lock);
  return {
    id,
    folder,
    lock,
    remove: async () => {
      await removeTree(folder);
      await removeIfEmpty(top);
    },
  };
}

/** Whether the process that has opened this shell lives. */
export async function isShellAlive(project: Project, feature: string, id: string): Promise<boolean> {
  return (await lockHolder(path.join(topOf(project, feature), path.basename(id), LOCK))) !== undefined;
}

/** Removes the folders of shells that were killed together with their cleanup process. Their containers are gone. */
export async function clearGoneShells(project: Project, feature: string): Promise<void> {
  const top = topOf(project, feature);
  for (const id of await readdir(top).catch((): string[] => [])) {
    const folder = path.join(top, id);
    const isNew = !(await isThere(path.join(folder, LOCK))) && Date.now() - (await modifiedAt(folder)) < MAKING_MS;
    if (!isNew && !(await isShellAlive(project, feature, id))) await removeTree(folder).catch(() => undefined);
  }
  await removeIfEmpty(top);
}
