import { constants } from 'node:fs';
import { lstat, open, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { systemCode } from './app-error.ts';
import { readWhole } from './read-whole.ts';

/** Whether the error says that nothing is at the path. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '');
}

/** Whether something is at the path. When that cannot be examined, it counts as there. */
export async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
}

/** Undefined when there is no such file. */
export const readIfThere = (file: string): Promise<Buffer | undefined> => readWhole(file).catch(undefinedIfMissing);

/** For reading; undefined when there is no such file. A pipe in its place keeps no thread waiting for a writer. */
export const openIfThere = (file: string): Promise<FileHandle | undefined> =>
  open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(undefinedIfMissing);

/** For reading what may be missing: `readFile(file).catch(undefinedIfMissing)`. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** Milliseconds since 1970; 0 when there is no such file. */
export async function modifiedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
