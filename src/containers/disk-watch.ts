import { statfs } from 'node:fs/promises';
import { inBytes, inSeconds, run, sleep, systemClock } from '../lib/index.ts';
import { deletedBytes } from './deleted-files.ts';
import type { DiskLimit } from './container-wish.ts';
import type { DiskMeter } from './free-space.ts';

const FASTEST_MS = 1000;
/** A disk may fill up between two looks: they are never further apart. */
const SLOWEST_MS = 30_000;
/** Of the time at most so much goes into measuring. */
const SHARE = 0.05;
const MEASURE_TIMEOUT_MS = 120_000;
/** Tests forbid folders for a moment; one that is forbidden for longer hides something. */
const HIDDEN_MS = 60_000;
/** What a file counts at least: an empty one takes no room, but a disk has only so many. */
const BYTES_PER_FILE = 4096;

interface DiskUsage {
  readonly bytes: number;
  readonly files: number;
  /** What kept us from seeing all of it: a folder that its owner forbids. */
  readonly hidden: string | undefined;
  /** Not to be measured in any time: it has too many files. */
  readonly endless: boolean;
}

/** What a container keeps on the disk; a file without a name counts as long as it is open in the container. */
export function createDiskMeter(folders: DiskMeter['folders'], containerId: string): DiskMeter & { measure: Measure } {
  let last = 0;
  return {
    folders,
    last: () => last,
    measure: async (signal) => {
      const [usage, deleted] = await Promise.all([diskUsage(folders, signal), deletedBytes(containerId)]);
      last = usage.bytes + deleted;
      return { ...usage, bytes: last };
    },
  };
}

type Measure = (signal?: AbortSignal) => Promise<DiskUsage>;

/** A folder of the host that is mounted has no quota, so its size is looked at again and again. */
export async function watchDisk(
  { folders: [first], measure }: Pick<DiskMeter, 'folders'> & { readonly measure: Measure },
  { bytes: limitBytes, setting }: DiskLimit,
  signal: AbortSignal,
): Promise<string | undefined> {
  let hiddenSince: number | undefined;
  // Not at once: nothing is there yet, and a program that starts has better use for the processor.
  let pauseMs = FASTEST_MS;
  for (;;) {
    await pause(first, pauseMs, limitBytes / 4, signal);
    if (signal.aborted) return undefined;
    const began = systemClock.monotonic();
    const usage = await measure(signal);
    hiddenSince = usage.hidden === undefined ? undefined : (hiddenSince ?? began);
    const problem = problemOf(usage, limitBytes, hiddenSince === undefined ? 0 : began - hiddenSince);
    if (signal.aborted) return undefined;
    if (problem !== undefined) return `killed: its folders ${problem} (${setting})`;
    pauseMs = Math.min(SLOWEST_MS, Math.max(FASTEST_MS, (systemClock.monotonic() - began) / SHARE));
  }
}

/** Over sooner when the disk fills up meanwhile: to ask for what is free costs nothing. */
async function pause(folder: string, ms: number, lossBytes: number, signal: AbortSignal): Promise<void> {
  const freeBytes = (): Promise<number> =>
    statfs(folder).then(
      ({ bavail, bsize }) => bavail * bsize,
      () => 0,
    );
  const [until, before] = [systemClock.monotonic() + ms, await freeBytes()];
  for (let left = ms; left > 0 && !signal.aborted; left = until - systemClock.monotonic()) {
    await sleep(Math.min(FASTEST_MS, left), signal);
    if (before - (await freeBytes()) > lossBytes) return;
  }
}

/** Pure: what is wrong with so much on the disk, in words. */
export function problemOf(usage: DiskUsage, limitBytes: number, hiddenMs: number): string | undefined {
  const { bytes, files, hidden, endless } = usage;
  if (bytes > limitBytes) return `hold ${inBytes(bytes)} on the disk, the limit is ${inBytes(limitBytes)}`;
  const limitFiles = Math.floor(limitBytes / BYTES_PER_FILE);
  if (files > limitFiles)
    return `hold ${files} files, the limit is ${limitFiles}: one for each 4 KiB of ${inBytes(limitBytes)}`;
  if (endless) return `hold so many files that they cannot be counted within ${inSeconds(MEASURE_TIMEOUT_MS)}`;
  if (hiddenMs >= HIDDEN_MS) return `have not let us see how much they hold for ${inSeconds(HIDDEN_MS)}: ${hidden}`;
  return undefined;
}

/**
 * `du` goes down by open folders and follows no link, whatever is swapped under its feet. Only GNU's counts files; what
 * has just gone is not counted.
 */
export async function diskUsage(folders: readonly string[], signal?: AbortSignal): Promise<DiskUsage> {
  const options = {
    cwd: '/',
    // oxlint-disable-next-line node/no-process-env -- the host's own program
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    timeoutMs: MEASURE_TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  };
  const [size, count] = await Promise.all([
    run('du', ['-skx', '--', ...folders], options),
    process.platform === 'linux' ? run('du', ['-sx', '--inodes', '--', ...folders], options) : undefined,
  ]);
  return {
    bytes: sumOf(size.stdout) * 1024,
    files: count?.code === 0 ? sumOf(count.stdout) : 0,
    hidden: size.stderr.split('\n').find((line) => line.includes('Permission denied')),
    endless: size.timedOut || count?.timedOut === true,
  };
}

function sumOf(stdout: string): number {
  return stdout.split('\n').reduce((sum, line) => sum + (Number.parseInt(line, 10) || 0), 0);
}
