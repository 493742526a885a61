import { closeSync, constants, fstatSync, lstatSync, openSync, opendirSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { inBytes, systemCode } from '../lib/index.ts';
import type { FileAnswer, FileCall } from '../protocol/index.ts';
import { processesOf } from './as-user.ts';
import { failure } from './open-path.ts';

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Of one answer: the agent does other work between two. */
const PART_MS = 25;
const BLOCK_BYTES = 512;
/** What a file counts at least: an empty one takes no room, but a disk has room for a limited number of files. */
const BYTES_PER_FILE = 4096;
const DEEPEST = 128;
/** Of all processes together. */
const MOST_DESCRIPTORS = 100_000;

type MeasureCall = FileCall & { readonly op: 'measure' };
/** Ends with why the folders count as too large. */
type Measuring = Generator<undefined, string | null>;
type Step = Generator<undefined, void>;

interface Budget {
  bytes: number;
  files: number;
  readonly limit: MeasureCall['bytes'];
}

/** Measures folders in parts. A new measuring ends the one before it. */
export function createMeasuring(): (call: MeasureCall) => FileAnswer {
  let last = 0;
  let current: Measuring | undefined;
  return (call) => {
    if (call.walk === null) {
      current?.return(null);
      current = measure(call);
      last += 1;
    }
    if (current === undefined || (call.walk ?? last) !== last) throw failure('ESTALE', 'it was begun again');
    const until = performance.now() + PART_MS;
    while (performance.now() < until) {
      const { done, value } = current.next();
      if (done !== true) continue;
      current = undefined;
      return { walk: null, problem: value };
    }
    return { walk: last };
  };
}

/** What cannot be measured within bounds counts as too large. */
function* measure({ uid, folders, bytes }: MeasureCall): Measuring {
  const budget: Budget = { bytes, files: Math.floor(bytes / BYTES_PER_FILE), limit: bytes };
  try {
    const devices = new Set<number>();
    for (const folder of folders) {
      const opened = openSync(folder, FOLDER);
      devices.add(fstatSync(opened).dev);
      yield* measureFolder(opened, 1, budget);
    }
    yield* measureDeleted(uid, devices, budget);
    return null;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'E2BIG') return (error as Error).message;
    return code === 'EACCES' || code === 'EPERM'
      ? 'has a folder that cannot be read'
      : `cannot be measured (${code ?? 'EIO'})`;
  }
}

/** Goes down by open folders, and follows no link. Closes the folder. */
function* measureFolder(folder: number, depth: number, budget: Budget): Step {
  let dir: ReturnType<typeof opendirSync> | undefined;
  try {
    if (depth > DEEPEST) throw failure('E2BIG', `has more than ${DEEPEST} folders inside each other`);
    // Names are bytes.
    dir = opendirSync(`/proc/self/fd/${folder}`, { encoding: 'buffer' as BufferEncoding });
    for (let found = dir.readSync(); found !== null; found = dir.readSync()) {
      const file = Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), Buffer.from(found.name)]);
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (stat === undefined) continue;
      count(stat, budget);
      yield;
      const below = stat.isDirectory() ? openIfThere(file) : undefined;
      if (below !== undefined) yield* measureFolder(below, depth + 1, budget);
    }
  } finally {
    dir?.closeSync();
    closeSync(folder);
  }
}

/** Undefined when it was removed or replaced meanwhile. */
function openIfThere(file: Buffer): number | undefined {
  try {
    return openSync(file, FOLDER);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

function count({ blocks }: Pick<Stats, 'blocks'>, budget: Budget): void {
  budget.bytes -= blocks * BLOCK_BYTES;
  budget.files -= 1;
  if (budget.bytes < 0) throw failure('E2BIG', `holds more than ${inBytes(budget.limit)}`);
  if (budget.files < 0) throw failure('E2BIG', `has more than ${Math.floor(budget.limit / BYTES_PER_FILE)} files`);
}

/** Files without a name take room as long as a process has them open. */
function* measureDeleted(uid: number, devices: ReadonlySet<number>, budget: Budget): Step {
  const known = new Set<string>();
  let looked = 0;
  for (const { pid } of processesOf(uid)) {
    for (const stat of openFilesOf(pid)) {
      yield;
      if (++looked > MOST_DESCRIPTORS) throw failure('E2BIG', 'cannot be measured: too many files are open');
      const key = `${stat.dev} ${stat.ino}`;
      if (stat.nlink > 0 || !stat.isFile() || !devices.has(stat.dev) || known.has(key)) continue;
      known.add(key);
      count(stat, budget);
    }
  }
}

/** None of a process that has ended meanwhile, or has closed itself to all others. */
function* openFilesOf(pid: string): Generator<Stats, void> {
  let dir: ReturnType<typeof opendirSync> | undefined;
  try {
    dir = opendirSync(`/proc/${pid}/fd`);
    for (let found = dir.readSync(); found !== null; found = dir.readSync()) {
      const stat = statSync(`/proc/${pid}/fd/${found.name}`, { throwIfNoEntry: false });
      if (stat !== undefined) yield stat;
    }
  } catch (error) {
    if (!['EACCES', 'EPERM', 'ENOENT', 'ESRCH'].includes(systemCode(error) ?? '')) throw error;
  } finally {
    dir?.closeSync();
  }
}
