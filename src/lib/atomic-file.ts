import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf, systemCode } from './app-error.ts';
import { libErrors } from './errors.ts';
import { randomId } from './ids.ts';

const BLOCK_BYTES = 1024 * 1024;

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
    const handle = await open(temporary, 'wx', options.mode ?? 0o644);
    try {
      await handle.writeFile(text);
      if (options.durable) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    if (options.durable) await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A new or renamed file is only on the disk when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Reads a file that a hostile task may have put there: no link is followed, nothing that is not a plain
 * file is opened, and no more than `maxBytes` are read. Returns undefined when there is no such file.
 */
export async function readUntrusted(file: string, maxBytes: number): Promise<string | undefined> {
  const opened = await openUntrusted(file, maxBytes);
  if (opened === undefined) return undefined;
  const { handle, size } = opened;
  try {
    const buffer = Buffer.alloc(size);
    const { bytesRead } = await handle.read(buffer, 0, size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/**
 * Copies such a file to where its owner cannot change it; the size that counts is the one at the start. Holes stay
 * holes: what takes no room there must not fill the disk here.
 */
export async function copyUntrusted(file: string, target: string, maxBytes: number): Promise<boolean> {
  const opened = await openUntrusted(file, maxBytes);
  if (opened === undefined) return false;
  const { handle, size } = opened;
  try {
    await rm(target, { force: true });
    const copy = await open(target, 'wx', 0o600);
    try {
      await copyBlocks(handle, copy, size);
    } finally {
      await copy.close();
    }
    return true;
  } finally {
    await handle.close();
  }
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

async function openUntrusted(
  file: string,
  maxBytes: number,
): Promise<{ handle: FileHandle; size: number } | undefined> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
  const stat = await handle.stat();
  const reason = stat.isFile()
    ? stat.size > maxBytes
      ? `it has ${stat.size} bytes, the limit is ${maxBytes}`
      : undefined
    : 'it is not a plain file';
  if (reason === undefined) return { handle, size: stat.size };
  await handle.close();
  throw libErrors.FILE_UNREADABLE({ file, reason });
}

/** Makes a folder that git ignores as a whole, so that it never shows up in the user's `git status`. */
export async function makeIgnoredFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, '.gitignore');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) !== 'ENOENT') throw error;
    return '';
  });
  // Empty, it was left by a start of an earlier version that was killed.
  if (text === '') await writeFileAtomic(file, '*\n', { durable: false });
}
