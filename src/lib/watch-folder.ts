import { watch } from 'node:fs';

/**
 * Calls back soon after a file in the folder is written or replaced. The caller must also look from time to time: a watch
 * may fail, because the system has few for each user, and other programs may use them all.
 */
export function watchFolder(folder: string, onChange: () => void): { close(): void } {
  try {
    const watcher = watch(folder, { persistent: false }, (_, name) => {
      // Of an atomic write only the rename counts, not the draft.
      if (name?.endsWith('.tmp') !== true) onChange();
    });
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return { close: () => undefined };
  }
}
