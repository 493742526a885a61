import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { randomId, reasonOf, systemCode } from '../lib/index.ts';
import type { FileAnswer, FileCall } from '../protocol/index.ts';
import { asUser } from './as-user.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

interface OpenFile {
  readonly fd: number;
  readonly draft: string;
  readonly folder: number;
}

/** Files whose last part has not come yet, by the path that they are for. */
type OpenFiles = Map<string, OpenFile>;

/** Does what the host asks for with the files of a user. */
export function createFiles(): (call: FileCall) => FileAnswer {
  const open: OpenFiles = new Map();
  return (call) => {
    try {
      return asUser(call.uid, () => {
        if (call.op === 'write') return write(open, call);
        return call.op === 'read' ? read(call) : remove(call);
      });
    } catch (error) {
      return { error: { code: systemCode(error) ?? 'EIO', message: reasonOf(error) } };
    }
  };
}

function write(open: OpenFiles, call: FileCall & { op: 'write' }): FileAnswer {
  const file = call.more ? open.get(call.path) : begin(call);
  if (file === undefined) throw failure('ENOENT', 'the first part of this file has not come');
  open.set(call.path, file);
  let isOver = call.last;
  try {
    writeWhole(file.fd, Buffer.from(call.content, 'base64'));
    if (call.last) renameSync(file.draft, inFolder(file.folder, nameOf(call.path)));
    return {};
  } catch (error) {
    isOver = true;
    unlinkSync(file.draft);
    throw error;
  } finally {
    if (isOver) close(open, call.path);
  }
}

function begin(call: FileCall & { op: 'write' }): OpenFile {
  const folder = openParent(call, true);
  const draft = inFolder(folder, `.upload-${randomId()}`);
  const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, call.mode);
  return { fd, draft, folder };
}

function close(open: OpenFiles, file: string): void {
  const { fd, folder } = open.get(file) ?? {};
  open.delete(file);
  for (const each of [fd, folder]) if (each !== undefined) closeSync(each);
}

function read(call: FileCall & { op: 'read' }): FileAnswer {
  const folder = openParent(call, false);
  try {
    // Without waiting: a named pipe has no size and may never have a writer.
    const fd = openSync(inFolder(folder, nameOf(call.path)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      const stat = fstatSync(fd);
      if (!stat.isFile()) throw failure(stat.isDirectory() ? 'EISDIR' : 'EINVAL', 'it is no file');
      const buffer = Buffer.alloc(Math.max(0, Math.min(call.bytes, stat.size - call.from)));
      const length = buffer.length === 0 ? 0 : readSync(fd, buffer, 0, buffer.length, call.from);
      return { size: stat.size, content: buffer.subarray(0, length).toString('base64') };
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(folder);
  }
}

function remove(call: FileCall & { op: 'remove' }): FileAnswer {
  const folder = openParent(call, false);
  try {
    rmSync(inFolder(folder, nameOf(call.path)), { recursive: true });
    return {};
  } finally {
    closeSync(folder);
  }
}

/** Removes what this user owns in folders that all users share. What cannot be removed is its own, and no one else may enter it. */
export function clearFolders(uid: number, folders: readonly string[]): void {
  asUser(uid, () => {
    for (const folder of folders) {
      for (const name of readdirSync(folder)) {
        const file = path.posix.join(folder, name);
        if (lstatSync(file, { throwIfNoEntry: false })?.uid !== uid) continue;
        try {
          rmSync(file, { recursive: true, force: true });
        } catch {
          // A tree that is deeper than a path may be long.
        }
      }
    }
  });
}

/** The folder that the path is in, opened without following any link below the root. */
function openParent({ root, path: file }: Pick<FileCall, 'root' | 'path'>, make: boolean): number {
  if (!file.startsWith(`${root}/`)) throw failure('EACCES', 'the path is outside of the workspace');
  const names = file.slice(root.length + 1).split('/');
  if (names.some((name) => name === '' || name === '.' || name === '..')) throw failure('EINVAL', 'no such path');
  let folder = openSync(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  for (const name of names.slice(0, -1)) {
    const parent = folder;
    try {
      folder = openFolder(inFolder(parent, name), make);
    } finally {
      closeSync(parent);
    }
  }
  return folder;
}

function openFolder(file: string, make: boolean): number {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return openSync(file, flags);
  } catch (error) {
    if (!make || systemCode(error) !== 'ENOENT') throw error;
    mkdirSync(file);
    return openSync(file, flags);
  }
}

function writeWhole(fd: number, content: Buffer): void {
  for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
}

/** A name in an open folder: nothing that is renamed or linked meanwhile leads elsewhere. */
const inFolder = (folder: number, name: string): string => `/proc/self/fd/${folder}/${name}`;

const nameOf = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
