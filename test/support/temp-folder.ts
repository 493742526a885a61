import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of its own for the running test; it goes with the test. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mahabharatha-test-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
