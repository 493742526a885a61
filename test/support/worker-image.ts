import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from '../../src/lib/index.ts';
import { dockerForTests } from './docker.ts';
import { WAIT_LIMIT_MS } from './wait-until.ts';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));
const LOCK = path.join(tmpdir(), 'mahabharatha-test-worker-image.lock');

export const docker = await dockerForTests();

/** For the name of what is skipped. */
export const whySkipped = docker.why === '' ? '' : ` (${docker.why})`;

/** The image of this checkout, built by the program itself; one test file at a time, and quick when it is there. */
export async function buildWorkerImage(): Promise<void> {
  if (docker.why !== '') return;
  await withLock(LOCK, WAIT_LIMIT_MS, async () => {
    // Outside every repository: this project's own settings would have to be approved.
    execFileSync(process.execPath, [PROGRAM, 'build', '--base-image', docker.image], { stdio: 'pipe', cwd: tmpdir() });
  });
}
