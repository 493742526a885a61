import { watch } from 'node:fs';

/**
 * Calls back at once when a file in the folder is written or replaced. A hint, not a promise: the caller also looks now
 * and then, so a watch that fails costs speed, not truth. One that fails is to be expected: the system has few for each
 * user, and another program of the same user may take them all.
 */
export function watchFolder(folder: string, onChange: () => void): { close(): void } {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      // The draft of an atomic write is no news; its rename is.
      if (name?.endsWith('.tmp') !== true) onChange();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return { close: () => undefined };
  }
}
