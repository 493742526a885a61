import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for the running test; it goes with the test. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-')));
  // What still ends may write for a moment, and in this process too: it gets its turn.
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
  return folder;
}
