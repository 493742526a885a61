import { watch } from 'chokidar';

/** Calls back soon after anything changes below the folders. A hint, not a promise: the caller also looks now and then. */
export function watchFolders(folders: readonly string[], onChange: () => void): { close(): Promise<void> } {
  const watcher = watch([...folders], {
    ignoreInitial: true,
    persistent: true,
    followSymlinks: false,
    depth: 3,
    // Drafts of atomic writes are nobody's news.
    ignored: (file) => file.endsWith('.tmp'),
  });
  watcher.on('all', onChange);
  // A watch that fails (too many files open, a folder removed) costs speed, not truth.
  watcher.on('error', () => undefined);
  return { close: () => watcher.close() };
}
