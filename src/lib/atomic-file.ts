import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { randomId } from './ids.ts';
import { AppError, reasonOf, systemCode } from './errors.ts';

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

/** A rename is only on the disk when its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Reads a file that somebody we do not trust may have put there: no link is followed, nothing that is not a plain
 * file is opened, and no more than `maxBytes` are read. Returns undefined when there is no such file.
 */
export async function readUntrusted(file: string, maxBytes: number): Promise<string | undefined> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new AppError('FILE_UNREADABLE', { file, reason: reasonOf(error) }, { cause: error });
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new AppError('FILE_UNREADABLE', { file, reason: 'it is not a plain file' });
    if (stat.size > maxBytes) {
      throw new AppError('FILE_UNREADABLE', { file, reason: `it has ${stat.size} bytes, the limit is ${maxBytes}` });
    }
    const buffer = Buffer.alloc(stat.size);
    const { bytesRead } = await handle.read(buffer, 0, stat.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** Makes a folder that git ignores as a whole, so that a run never shows up in the user's `git status`. */
export async function makeIgnoredFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  try {
    const handle = await open(path.join(folder, '.gitignore'), 'wx');
    await handle.writeFile('*\n');
    await handle.close();
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
  }
}
