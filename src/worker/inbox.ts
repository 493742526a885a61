import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isMissing, sleep, watchFolder } from '../lib/index.ts';
import { assignment as assignmentSchema, boot as bootSchema } from '../protocol/index.ts';
import type { Assignment, Boot } from '../protocol/index.ts';

/** How often it looks without a sign of the watch, which may miss a change. */
const LOOK_MS = 500;

export async function readBoot(folder: string): Promise<Boot> {
  return bootSchema.parse(JSON.parse(await readFile(path.join(folder, 'worker.json'), 'utf8')));
}

export function openInbox(folder: string) {
  const file = path.join(folder, 'assignment.json');
  let wake = new AbortController();
  const watcher = watchFolder(folder, () => wake.abort());
  return {
    /** The next assignment that is not `done`; undefined once the signal fires. */
    next: async (done: string | null, signal: AbortSignal): Promise<Assignment | undefined> => {
      while (!signal.aborted) {
        wake = new AbortController();
        const found = await readAssignment(file);
        if (found !== undefined && found.attempt !== done) return found;
        await sleep(LOOK_MS, AbortSignal.any([wake.signal, signal]));
      }
      return undefined;
    },
    close: (): void => watcher.close(),
  };
}

async function readAssignment(file: string): Promise<Assignment | undefined> {
  try {
    return assignmentSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
