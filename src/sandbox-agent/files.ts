import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { randomId, reasonOf, systemCode } from '../lib/index.ts';
import type { FileAnswer, FileCall, MatchedFile } from '../protocol/index.ts';
import { asUserAndGroup, withGroup } from './as-user.ts';
import { hashFile } from './hash-file.ts';
import { createListing } from './list-files.ts';
import { createMeasuring } from './measure-folders.ts';
import { failure, inFolder, nameOf, openParent, openRoot, READING } from './open-path.ts';
import type { Reserve } from './reserve.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
const OVERWRITING = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
/** Rights of a folder that an upload makes, as far as the umask leaves them. */
const USUAL_FOLDER = 0o777;
const HOME = 0o700;
/** Between two answers to a search for changed files. */
const MATCHED_BYTES = 4 * 1024 ** 2;

/** No upload in parts has this number. */
const WHOLE = 0;

interface OpenFile {
  readonly fd: number;
  /** Null: it is written in its place. */
  readonly draft: string | null;
  readonly folder: number;
}

/** Files whose last part has not come yet, by the number of their upload. */
type OpenFiles = Map<number, OpenFile>;

/** Does what the host asks for with the files of a user; null: there is no reserve. */
export function createFiles(reserve: Reserve | null): (call: FileCall) => FileAnswer {
  const open: OpenFiles = new Map();
  const list = createListing();
  const measure = createMeasuring();
  const work = (call: FileCall): FileAnswer => {
    if (call.op === 'write') return write(open, call);
    if (call.op === 'write-whole') return writeWholeFiles(open, call);
    if (call.op === 'read') return read(call);
    if (call.op === 'make-root') return makeRoot(call);
    if (call.op === 'make-home') return makeHome(call);
    if (call.op === 'list') return list(call);
    if (call.op === 'measure') return measure(call);
    return call.op === 'match' ? match(call) : remove(call);
  };
  const inReserve = (call: FileCall): FileAnswer | undefined => {
    if (call.op !== 'make-home' && call.op !== 'write') return undefined;
    const { uid, home, ...rest } = call;
    const hasHome = home !== undefined && reserve?.takeHome(uid, home) === true;
    if (rest.op === 'make-home') return hasHome ? {} : undefined;
    const placed = reserve?.placed({ ...rest, uid });
    return placed && withGroup(uid, () => write(open, placed));
  };
  return (call) => {
    try {
      return inReserve(call) ?? asUserAndGroup(call.uid, () => work(call));
    } catch (error) {
      return { error: inWords(error) };
    }
  };
}

function write(open: OpenFiles, call: FileCall & { op: 'write' }): FileAnswer {
  if (call.home !== undefined) mkdirSync(call.home, HOME);
  const file = call.more ? open.get(call.upload) : begin(call);
  if (file === undefined) throw failure('ENOENT', 'the first part of this file has not come');
  open.set(call.upload, file);
  let isOver = call.last;
  try {
    writeWhole(file.fd, Buffer.from(call.content, 'base64'));
    if (call.last && file.draft !== null) renameSync(file.draft, inFolder(file.folder, nameOf(call.path)));
    return {};
  } catch (error) {
    isOver = true;
    if (file.draft !== null) rmSync(file.draft, { force: true });
    throw error;
  } finally {
    if (isOver) close(open, call.upload);
  }
}

/** Many at once: to become another user takes longer than to write a small file. */
function writeWholeFiles(open: OpenFiles, { files, ...place }: FileCall & { op: 'write-whole' }): FileAnswer {
  const whole = { ...place, op: 'write', upload: WHOLE, more: false, last: true } as const;
  const errors = files.map((file) => {
    try {
      write(open, { ...whole, ...file });
      return null;
    } catch (error) {
      return inWords(error);
    }
  });
  return { errors };
}

export const inWords = (error: unknown): { code: string; message: string } => ({
  code: systemCode(error) ?? 'EIO',
  message: reasonOf(error),
});

function makeRoot({ root }: FileCall & { op: 'make-root' }): FileAnswer {
  closeSync(openRoot(root));
  return {};
}

function begin(call: FileCall & { op: 'write' }): OpenFile {
  const folder = openParent(call, call.folderMode ?? USUAL_FOLDER);
  try {
    if (call.overwrites === true) {
      const fd = openSync(inFolder(folder, nameOf(call.path)), OVERWRITING, call.mode);
      return { fd, draft: null, folder };
    }
    const draft = inFolder(folder, `.upload-${randomId()}`);
    const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, call.mode);
    return { fd, draft, folder };
  } catch (error) {
    closeSync(folder);
    throw error;
  }
}

function makeHome({ home }: FileCall & { op: 'make-home' }): FileAnswer {
  mkdirSync(home, HOME);
  return {};
}

function close(open: OpenFiles, upload: number): void {
  const { fd, folder } = open.get(upload) ?? {};
  open.delete(upload);
  for (const each of [fd, folder]) if (each !== undefined) closeSync(each);
}

function read(call: FileCall & { op: 'read' }): FileAnswer {
  const folder = openParent(call, null);
  try {
    const fd = openSync(inFolder(folder, nameOf(call.path)), READING);
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

/** Which of these files are not there with this content. It answers for as many of them as it gets to in a while. */
function match(call: FileCall & { op: 'match' }): FileAnswer {
  const needed: string[] = [];
  let done = 0;
  for (let bytes = 0; done < call.files.length && bytes < MATCHED_BYTES; done += 1) {
    const file = call.files[done];
    const size = file === undefined ? null : sizeIfSame(call.root, file);
    if (file !== undefined && size === null) needed.push(file.path);
    bytes += size ?? 0;
  }
  return { needed, done };
}

/** Null when the file is another one, or cannot be read. It gets the mode that it should have. */
function sizeIfSame(root: string, { path: file, sha256, mode }: MatchedFile): number | null {
  try {
    const folder = openParent({ root, path: file }, null);
    try {
      const fd = openSync(inFolder(folder, nameOf(file)), READING);
      try {
        const stat = fstatSync(fd);
        if (!stat.isFile() || hashFile(fd) !== sha256) return null;
        if ((stat.mode & 0o7777) !== mode) fchmodSync(fd, mode);
        return stat.size;
      } finally {
        closeSync(fd);
      }
    } finally {
      closeSync(folder);
    }
  } catch {
    return null;
  }
}

function remove(call: FileCall & { op: 'remove' }): FileAnswer {
  const folder = openParent(call, null);
  try {
    rmSync(inFolder(folder, nameOf(call.path)), { recursive: true });
    return {};
  } finally {
    closeSync(folder);
  }
}

export function writeWhole(fd: number, content: Buffer): void {
  for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
}
