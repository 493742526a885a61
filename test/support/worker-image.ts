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

/** For the names of skipped tests. */
export const whySkipped = docker.why === '' ? '' : ` (${docker.why})`;

/** Builds this checkout's image with the program itself, in one test file at a time, and returns its tag. */
export async function buildWorkerImage(): Promise<string> {
  return buildImage('worker');
}

/** That of sandboxes. */
export async function buildSandboxImage(): Promise<string> {
  return buildImage('sandbox');
}

/** That of the code of AI clients. */
export async function buildBunImage(): Promise<string> {
  return buildImage('bun');
}

async function buildImage(wanted: 'worker' | 'sandbox' | 'bun'): Promise<string> {
  if (docker.why !== '') return '';
  const args = [PROGRAM, 'build', wanted, '--base-image', docker.image, '--json'];
  return withImageLock(async () => {
    // Outside this repository, whose settings would need an approval.
    const lines = execFileSync(process.execPath, args, { encoding: 'utf8', cwd: tmpdir() }).trim().split('\n');
    const images = lines.map((line) => JSON.parse(line) as { kind?: string; tag?: string });
    return images.findLast(({ kind }) => kind === wanted)?.tag ?? '';
  });
}

/** Two builds at once would do the work twice. */
export function withImageLock<Value>(build: () => Promise<Value>): Promise<Value> {
  return withLock(LOCK, WAIT_LIMIT_MS, build);
}
