import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { systemCode } from '../lib/index.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** Without waiting: a named pipe may never have a writer. */
export const READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

interface Place {
  /** The folder that the path must stay in. */
  readonly root: string;
  readonly path: string;
}

/** The folder that the path is in, opened without following any link below the place of the root. `make`: the rights of folders that are missing, null when none is to be made. */
export function openParent({ root, path: file }: Place, make: number | null): number {
  return openFolders(root, namesIn({ root, path: file }).slice(0, -1), make);
}

/** The folder at the path, which may be the root. */
export function openPlace({ root, path: file }: Place): number {
  return openFolders(root, file === root ? [] : namesIn({ root, path: file }), null);
}

/** It is made when it is missing. */
export const openRoot = (root: string): number => openFolder(root, 0o777);

function namesIn({ root, path: file }: Place): string[] {
  if (!file.startsWith(`${root}/`)) throw failure('EACCES', 'the path is outside of the workspace');
  const names = file.slice(root.length + 1).split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) throw failure('EINVAL', 'no such path');
  return names;
}

function openFolders(root: string, names: readonly string[], make: number | null): number {
  let folder = openFolder(root, make);
  for (const name of names) {
    const parent = folder;
    try {
      folder = openFolder(inFolder(parent, name), make);
    } finally {
      closeSync(parent);
    }
  }
  return folder;
}

function openFolder(file: string, make: number | null): number {
  try {
    return openSync(file, FOLDER);
  } catch (error) {
    if (make === null || systemCode(error) !== 'ENOENT') throw error;
    mkdirSync(file, make);
    return openSync(file, FOLDER);
  }
}

/** A name in an open folder: nothing that is renamed or linked meanwhile leads elsewhere. */
export const inFolder = (folder: number, name: string): string => `/proc/self/fd/${folder}/${name}`;

export const nameOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

export function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
