import type { Stats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { reasonOf } from './app-error.ts';
import { libErrors } from './errors.ts';
import { isMissing } from './if-there.ts';

export interface PlainFile {
  /** Below the folder that it was read from, with "/" between the names. */
  readonly path: string;
  readonly content: Buffer;
  readonly executable: boolean;
}

/**
 * Reads a file, or all files of a folder and the folders below it, sorted by name; none when nothing is there. Throws
 * FILE_UNREADABLE at a link, which could lead to another file of the user. `check` may refuse a file by its size.
 */
export async function readPlainFiles(
  top: string,
  name: string,
  check: (file: string, bytes: number) => void,
): Promise<PlainFile[]> {
  const file = path.join(top, name);
  const stat = await orUndefined<Stats>(file, lstat);
  if (stat === undefined) return [];
  if (stat.isDirectory()) {
    const names = (await orUndefined<string[]>(file, readdir)) ?? [];
    const found: PlainFile[] = [];
    for (const inner of names.toSorted()) found.push(...(await readPlainFiles(top, `${name}/${inner}`, check)));
    return found;
  }
  if (!stat.isFile()) throw libErrors.FILE_UNREADABLE({ file, reason: 'it is not a plain file' });
  check(file, stat.size);
  const content = await orUndefined<Buffer>(file, readFile);
  return content === undefined ? [] : [{ path: name, content, executable: (stat.mode & 0o100) !== 0 }];
}

async function orUndefined<Value>(file: string, read: (file: string) => Promise<Value>): Promise<Value | undefined> {
  return read(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
}
