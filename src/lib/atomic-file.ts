import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from './app-error.ts';
import { libErrors } from './errors.ts';
import { randomId } from './ids.ts';
import { isMissing, readIfThere } from './if-there.ts';
import { makeFolder } from './make-folder.ts';

const BLOCK_BYTES = 1024 * 1024;
/** No link is followed, and a pipe keeps no reader waiting. */
const UNTRUSTED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Replaces a file so that a reader sees the old text or the new one, never half of it.
 * With `durable` the new text is on the disk before the old one is gone.
 */
export async function writeFileAtomic(
  file: string,
  text: string | Uint8Array,
  options: { durable: boolean; mode?: number },
): Promise<void> {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${randomId()}.tmp`);
  try {
    await withFile(open(temporary, 'wx', options.mode ?? 0o644), async (handle) => {
      await handle.writeFile(text);
      if (options.durable) await handle.sync();
    });
    await rename(temporary, file);
    if (options.durable) await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(temporary, { force: true });
    throw named(error, file);
  }
}

/** Where the disk is full, the system does not say of which file. */
function named(error: unknown, file: string): unknown {
  return error instanceof Error && !('path' in error) ? Object.assign(error, { path: file }) : error;
}

/** A new or renamed file is only on the disk when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  await withFile(open(folder, constants.O_RDONLY), (handle) => handle.sync());
}

/**
 * Reads a file that a hostile task may have written: follows no link, opens nothing but a plain file, and reads at most
 * `maxBytes`. Returns undefined when there is no such file.
 */
export async function readUntrusted(file: string, maxBytes: number): Promise<string | undefined> {
  return withUntrusted(file, maxBytes, async (handle, size) => {
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await handle.read(buffer, 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  });
}

/**
 * The same at once: with promises, the threads cost ten times what there is to do. For small files that are read again and
 * again from a disk of this machine.
 */
export function readUntrustedNow(file: string, maxBytes: number): string | undefined {
  const descriptor = openNow(file);
  if (descriptor === undefined) return undefined;
  try {
    const buffer = Buffer.alloc(sizeOf(file, fstatSync(descriptor), maxBytes));
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Copies such a file to a place that its writer cannot reach, up to the size that it has at the start. Holes stay holes:
 * a sparse file must not fill the disk here. Returns false when there is no such file.
 */
export async function copyUntrusted(file: string, target: string, maxBytes: number): Promise<boolean> {
  const copied = await withUntrusted(file, maxBytes, async (handle, size) => {
    await rm(target, { force: true });
    await withFile(open(target, 'wx', 0o600), (copy) => copyBlocks(handle, copy, size));
    return true;
  });
  return copied === true;
}

async function copyBlocks(from: FileHandle, to: FileHandle, size: number): Promise<void> {
  const block = Buffer.alloc(BLOCK_BYTES);
  const zeros = Buffer.alloc(BLOCK_BYTES);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await from.read(block, 0, Math.min(BLOCK_BYTES, size - at), at);
    if (bytesRead === 0) break;
    const part = block.subarray(0, bytesRead);
    for (let written = part.equals(zeros.subarray(0, bytesRead)) ? bytesRead : 0; written < bytesRead;)
      written += (await to.write(part, written, bytesRead - written, at + written)).bytesWritten;
    at += bytesRead;
  }
  await to.truncate(at);
}

async function withUntrusted<Result>(
  file: string,
  maxBytes: number,
  work: (handle: FileHandle, size: number) => Promise<Result>,
): Promise<Result | undefined> {
  const opened = await open(file, UNTRUSTED).catch((error: unknown) => unopened(file, error));
  if (opened === undefined) return undefined;
  return withFile(opened, async (handle) => work(handle, sizeOf(file, await handle.stat(), maxBytes)));
}

function openNow(file: string): number | undefined {
  try {
    return openSync(file, UNTRUSTED);
  } catch (error) {
    return unopened(file, error);
  }
}

/** Undefined when nothing is there. */
function unopened(file: string, error: unknown): undefined {
  if (isMissing(error)) return undefined;
  throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
}

/** The size of an open file, which is refused when it is too large or not plain. */
function sizeOf(file: string, stat: Stats, maxBytes: number): number {
  if (!stat.isFile()) throw libErrors.FILE_UNREADABLE({ file, reason: 'it is not a plain file' });
  const tooLarge = `it has ${stat.size} bytes, the limit is ${maxBytes}`;
  if (stat.size > maxBytes) throw libErrors.FILE_UNREADABLE({ file, reason: tooLarge });
  return stat.size;
}

async function withFile<Result>(
  opening: FileHandle | Promise<FileHandle>,
  work: (handle: FileHandle) => Promise<Result>,
): Promise<Result> {
  const handle = await opening;
  try {
    return await work(handle);
  } finally {
    await handle.close();
  }
}

/** Makes a folder that git ignores as a whole, so that it never appears in the user's `git status`. */
export async function makeIgnoredFolder(folder: string): Promise<void> {
  await makeFolder(folder);
  const file = path.join(folder, '.gitignore');
  const text = await readIfThere(file);
  // An earlier version that was killed may have left an empty one.
  if (text === undefined || text.length === 0) await writeFileAtomic(file, '*\n', { durable: false });
}
