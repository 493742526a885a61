import { chmod, lstat, mkdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { systemCode } from './app-error.ts';
import { libErrors } from './errors.ts';
import { makeFolder } from './make-folder.ts';

const OTHERS_MAY_WRITE = 0o002;
const GROUP_MAY_WRITE = 0o020;
/** Only the owner of an entry may rename or remove it, as in /tmp. */
const STICKY = 0o1000;

/**
 * Makes a folder that no other user can enter. Throws FOLDER_UNSAFE when it is a link, belongs to another user, or when
 * another user could replace it, because of the rights of its parent.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  await makeFolder(path.dirname(folder), 0o700);
  await checkParent(folder);
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    if (systemCode(error) !== 'EEXIST') throw error;
  });
  const mode = await checkFolder(folder);
  if ((mode & 0o777) !== 0o700) await chmod(folder, 0o700);
}

/** Throws as `makePrivateFolder` would, and makes nothing. Neither folder nor parent need exist. */
export async function checkPrivateFolder(folder: string): Promise<void> {
  await checkParent(folder).catch(ifThere);
  await checkFolder(folder).then(() => undefined, ifThere);
}

function ifThere(error: unknown): void {
  if (systemCode(error) !== 'ENOENT') throw error;
}

async function checkParent(folder: string): Promise<void> {
  const parent = path.dirname(folder);
  const danger = dangerOf(await stat(parent), ownIds());
  if (danger !== undefined) throw libErrors.FOLDER_UNSAFE({ folder, reason: `its parent ${parent} ${danger}` });
}

/** Returns the mode. */
async function checkFolder(folder: string): Promise<number> {
  const found = await lstat(folder);
  const { uid } = ownIds();
  const reason = found.isDirectory() ? `it belongs to user ${found.uid}, and you are ${uid}` : 'it is a link or a file';
  if (!found.isDirectory() || found.uid !== uid) throw libErrors.FOLDER_UNSAFE({ folder, reason });
  return found.mode;
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

/** Pure: why another user could replace an entry of this folder; undefined when none can. */
export function dangerOf(
  parent: { readonly uid: number; readonly gid: number; readonly mode: number },
  ids: Ids,
): string | undefined {
  if (parent.uid !== ids.uid && parent.uid !== 0) return `belongs to user ${parent.uid}`;
  if ((parent.mode & STICKY) !== 0) return undefined;
  if ((parent.mode & OTHERS_MAY_WRITE) !== 0) return 'may be written by all users';
  // Most systems give each user a group of that user alone.
  if ((parent.mode & GROUP_MAY_WRITE) !== 0 && parent.gid !== ids.gid) return `may be written by group ${parent.gid}`;
  return undefined;
}

function ownIds(): Ids {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
}

/** A path without links; what it names need not exist yet. */
export async function realPathOf(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    const parent = path.dirname(file);
    if (systemCode(error) !== 'ENOENT' || parent === file) return path.resolve(file);
    return path.join(await realPathOf(parent), path.basename(file));
  }
}
