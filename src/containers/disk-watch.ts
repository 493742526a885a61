import { freeBytesIn, inBytes, inSeconds, run, sleep, systemClock } from '../lib/index.ts';
import { deletedBytes } from './deleted-files.ts';
import type { DiskLimit } from './container-wish.ts';
import type { DiskMeter } from './free-space.ts';

/** Not at once: nothing is there yet, and the program that is starting needs the processor. */
const FIRST_MS = 2000;
const FASTEST_MS = 1000;
/** The longest time between two measurements. */
const SLOWEST_MS = 30_000;
/** The parts of the limit that the disk has to lose: for the next measurement in its turn, and for one at once. */
const [LITTLE, MUCH] = [1 / 64, 1 / 4];
/** The part of the time that goes into measuring, at most. */
const SHARE = 0.05;
const MEASURE_TIMEOUT_MS = 120_000;
/** Tests close folders for a moment; one that is closed for longer hides something. */
const HIDDEN_MS = 60_000;
/** What a file counts at least: an empty file takes no room, but a disk has room for a limited number of files. */
const BYTES_PER_FILE = 4096;

export interface DiskUsage {
  readonly bytes: number;
  readonly files: number;
  /** The error of a folder that could not be read: its owner has closed it. */
  readonly hidden: string | undefined;
  /** It has too many files to be measured in time. */
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

/** A mounted folder of the host has no quota, so its size is measured again and again. */
export async function watchDisk(
  { folders: [first], measure }: Pick<DiskMeter, 'folders'> & { readonly measure: Measure },
  { bytes: limitBytes, setting }: Pick<DiskLimit, 'bytes' | 'setting'>,
  signal: AbortSignal,
  freeBytes: typeof freeBytesOf = freeBytesOf,
): Promise<string | undefined> {
  let hiddenSince: number | undefined;
  await sleep(FIRST_MS, signal);
  for (;;) {
    if (signal.aborted) return undefined;
    const room = await freeBytes(first);
    const began = systemClock.monotonic();
    const usage = await measure(signal);
    hiddenSince = usage.hidden === undefined ? undefined : (hiddenSince ?? began);
    const problem = problemOf(usage, limitBytes, hiddenSince === undefined ? 0 : began - hiddenSince);
    if (signal.aborted) return undefined;
    if (problem !== undefined) return `killed: its folders ${problem} (${setting})`;
    const restMs = Math.max(FASTEST_MS, (systemClock.monotonic() - began) / SHARE);
    const longestMs = hiddenSince === undefined ? SLOWEST_MS : restMs;
    await pause({ restMs, longestMs, limitBytes, room, freeBytes: () => freeBytes(first) }, signal);
  }
}

interface Pause {
  /** For so long only a great loss counts. */
  readonly restMs: number;
  /** Then it ends in any case. A closed folder may be open again soon. */
  readonly longestMs: number;
  readonly limitBytes: number;
  /** What was free before the last measurement. */
  readonly room: number;
  readonly freeBytes: () => Promise<number>;
}

/** Until the disk has lost something, or for a while: to ask for the free space costs nothing, and to measure much. */
async function pause({ restMs, longestMs, limitBytes, room, freeBytes }: Pause, signal: AbortSignal): Promise<void> {
  const began = systemClock.monotonic();
  for (let [most, past] = [room, 0]; past < longestMs && !signal.aborted;) {
    await sleep(FASTEST_MS, signal);
    const free = await freeBytes();
    most = Math.max(most, free);
    past = systemClock.monotonic() - began;
    if (most - free > limitBytes * (past < restMs ? MUCH : LITTLE)) return;
  }
}

function freeBytesOf(folder: string): Promise<number> {
  return freeBytesIn(folder).catch(() => 0);
}

/** Pure: why this usage is not allowed, in words. */
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
 * `du` goes down by open folders and follows no link, also when a folder is exchanged meanwhile. Only GNU's counts files.
 * Files that are removed meanwhile are not counted.
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
