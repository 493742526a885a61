import { openSync } from 'node:fs';

/** More than the limit that the process was started with. */
const MANY = 256;

/**
 * Uses up all descriptors that the process may have: whatever a program then finds, it opens no file, no socket and no
 * pipe, and without a pipe it starts no process. Throws when there is no limit.
 */
export function useUpDescriptors(folder: string): void {
  for (let count = 0; count < MANY; count += 1) {
    try {
      openSync(folder, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EMFILE') return;
      throw error;
    }
  }
  throw new Error('The process has no limit of descriptors.');
}
