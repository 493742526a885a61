import { lstat, readFile, stat } from 'node:fs/promises';
import { systemCode } from './app-error.ts';

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
export async function readIfThere(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
}

/** Milliseconds since 1970; 0 when there is no such file. */
export async function modifiedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
