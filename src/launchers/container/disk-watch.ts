import { run, sleep } from '../../lib/index.ts';
import { inWords } from './endings.ts';
import type { Places } from './labels.ts';

const FASTEST_MS = 1000;
/** Of the time at most so much goes into measuring. */
const SHARE = 0.05;
const MEASURE_TIMEOUT_MS = 120_000;

/**
 * A folder of the host that is mounted has no quota, so its size is looked at again and again. `du` goes down by open
 * folders and follows no link, whatever is swapped under its feet.
 */
export async function watchDisk(
  { worktree, gitDir, outbox }: Places,
  limitBytes: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const began = performance.now();
    const used = await diskUsage([worktree, gitDir, outbox], signal);
    if (used > limitBytes)
      return `killed: its folders hold ${inWords(used)} on the disk, the limit is ${inWords(limitBytes)} (workers.container.disk)`;
    await sleep(Math.max(FASTEST_MS, (performance.now() - began) / SHARE), signal);
  }
  return undefined;
}

/** What cannot be read, because its owner forbids it or it has just gone, is not counted. */
async function diskUsage(folders: readonly string[], signal: AbortSignal): Promise<number> {
  const { stdout } = await run('du', ['-skx', '--', ...folders], {
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    timeoutMs: MEASURE_TIMEOUT_MS,
    signal,
  });
  const sizes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return sizes.reduce((sum, kib) => sum + kib, 0) * 1024;
}
