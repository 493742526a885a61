import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { lockHolder, tryLock } from './file-lock.ts';
import { isThere, modifiedAt } from './if-there.ts';
import { makePrivateFolder } from './private-folder.ts';
import { removeIfEmpty, removeTree } from './remove-tree.ts';

const LOCK = 'lock.json';
/** A folder without a lock is being made, or is a remainder. */
const MAKING_MS = 60_000;

/** A folder of one process, held by a lock as long as that process lives. */
export interface HeldFolder {
  readonly id: string;
  readonly folder: string;
  readonly lock: string;
  remove(): Promise<void>;
}

/** Folders in `top`, each of which belongs to a process. Only their user may enter `top` and the folder that it is in. */
export function heldFolders(top: string) {
  const isAlive = async (id: string): Promise<boolean> =>
    (await lockHolder(path.join(top, path.basename(id), LOCK))) !== undefined;
  return {
    make: async (id: string): Promise<HeldFolder> => {
      const folder = path.join(top, id);
      const lock = path.join(folder, LOCK);
      for (const made of [path.dirname(top), top, folder]) await makePrivateFolder(made);
      await tryLock(lock);
      const remove = async (): Promise<void> => {
        await removeTree(folder);
        await removeIfEmpty(top);
      };
      return { id, folder, lock, remove };
    },
    /** Whether the process that has made this folder lives. */
    isAlive,
    /** Removes the folders of processes that were killed together with their cleanup process. */
    clearGone: async (): Promise<void> => {
      for (const id of await readdir(top).catch((): string[] => [])) {
        const folder = path.join(top, id);
        const isNew = !(await isThere(path.join(folder, LOCK))) && Date.now() - (await modifiedAt(folder)) < MAKING_MS;
        if (!isNew && !(await isAlive(id))) await removeTree(folder).catch(() => undefined);
      }
      await removeIfEmpty(top);
    },
  };
}
