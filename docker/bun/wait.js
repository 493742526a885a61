// Loaded before a program that may come: Bun has started, and waits until a line at descriptor 3 says that it has come. What
// the program starts with its own options does not wait.
import { readSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  if (readSync(3, Buffer.alloc(64 * 1024)) === 0) process.exit();
  process.execArgv.splice(process.execArgv.indexOf('--preload'), 2);
}
