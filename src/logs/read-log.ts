import { stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createByteLines, openIfThere, sleep } from '../lib/index.ts';

const BLOCK = 65_536;
const LOOK_MS = 150;
/** Inodes have 64 bits, more than a number holds. */
const BIG = { bigint: true } as const;

/** A place in a log. It stays valid when the file is renamed and a new one begins. */
export interface LogPlace {
  /** Undefined when there is no file yet. */
  readonly inode: bigint | undefined;
  readonly offset: number;
}

const BEGINNING: LogPlace = { inode: undefined, offset: 0 };

interface LogEnd {
  readonly lines: string[];
  /** Where a follower goes on. */
  readonly place: LogPlace;
}

/** The name to which a log is renamed when it has become too long; the file of that name is replaced. */
export function olderFile(file: string): string {
  return `${file}.1`;
}

/**
 * The last `count` lines that match, oldest first. They are read from the end of the file and, when there are too few, of
 * the one before it. A missing file has no lines.
 */
export async function lastLines(file: string, count: number, matches: (line: string) => boolean): Promise<LogEnd> {
  const newest = await lastOf(file, count, matches);
  const missing = count - (newest?.lines.length ?? 0);
  const older = missing > 0 || newest === undefined ? await lastOf(olderFile(file), missing, matches) : undefined;
  if (newest === undefined) return older ?? { lines: [], place: BEGINNING };
  // The newest file may have been renamed meanwhile: then both are the same.
  if (older === undefined || older.place.inode === newest.place.inode) return newest;
  return { lines: [...older.lines, ...newest.lines], place: newest.place };
}

async function lastOf(file: string, count: number, matches: (line: string) => boolean): Promise<LogEnd | undefined> {
  const handle = await openIfThere(file);
  if (handle === undefined) return undefined;
  try {
    const { size, ino } = await measure(handle);
    const found: string[] = [];
    let end = size;
    // The pieces of a line whose beginning is not read yet, last piece first. They are joined once, however long it is.
    let tail: Buffer[] = [];
    let offset: number | undefined;
    while (end > 0 && (found.length < count || offset === undefined)) {
      const start = Math.max(0, end - BLOCK);
      const block = await readBlock(handle, start, end);
      const cut = start === 0 ? -1 : block.indexOf(10);
      tail.push(block);
      if (start === 0 || cut !== -1) {
        const whole = Buffer.concat(tail.toReversed());
        const text = whole.subarray(cut + 1).toString('utf8');
        // Text after the last line end is not a line yet.
        const lines = text.split('\n').slice(0, -1);
        found.unshift(...lines.filter((line) => line !== '' && matches(line)));
        offset ??= start + whole.lastIndexOf(10) + 1;
        tail = [Buffer.from(block.subarray(0, cut + 1))];
      }
      end = start;
    }
    return { lines: count === 0 ? [] : found.slice(-count), place: { inode: ino, offset: offset ?? 0 } };
  } finally {
    await handle.close();
  }
}

/** Calls back for every line that is appended from that place on, until the signal fires. */
export async function followLines(
  file: string,
  from: LogPlace,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let reader: Reader | undefined;
  try {
    while (!signal.aborted) {
      reader ??= await openPlace(file, from, onLine);
      await reader?.readOn();
      const next = reader && (await openSuccessor(file, reader, onLine));
      if (reader === undefined || next === undefined) {
        await sleep(LOOK_MS, signal);
        continue;
      }
      // A file that has been renamed is not written any more: now all of it is there.
      await reader.readOn();
      await reader.handle.close();
      reader = next;
    }
  } finally {
    await reader?.handle.close();
  }
}

/** Has its file open: it can be read to its end also when it was renamed or removed. */
interface Reader {
  readonly handle: FileHandle;
  /** Reads what was added since the last call. */
  readOn(): Promise<void>;
}

/** Undefined when there is no such file, or another one than the place is in. */
async function openAt(file: string, from: LogPlace, onLine: (line: string) => void): Promise<Reader | undefined> {
  const handle = await openIfThere(file);
  if (handle === undefined) return undefined;
  const { ino } = await measure(handle);
  if (from.inode !== undefined && from.inode !== ino) {
    await handle.close();
    return undefined;
  }
  let position = from.offset;
  let lines = createLineCutter(onLine);
  const readOn = async (): Promise<void> => {
    const { size } = await measure(handle);
    if (size < position) [position, lines] = [0, createLineCutter(onLine)];
    while (position < size) {
      const block = await readBlock(handle, position, Math.min(size, position + BLOCK));
      if (block.length === 0) break;
      position += block.length;
      lines.push(block);
    }
  };
  return { handle, readOn };
}

async function openPlace(file: string, from: LogPlace, onLine: (line: string) => void): Promise<Reader | undefined> {
  const older = olderFile(file);
  // Where there was no file, both are new and the older one comes first.
  if (from.inode === undefined) return (await openAt(older, from, onLine)) ?? openAt(file, from, onLine);
  return (await openAt(file, from, onLine)) ?? (await openAt(older, from, onLine)) ?? openAt(file, BEGINNING, onLine);
}

/** The next file when the one that is read has been renamed or removed; undefined while it is the newest. */
async function openSuccessor(
  file: string,
  reader: Reader,
  onLine: (line: string) => void,
): Promise<Reader | undefined> {
  const own = await measure(reader.handle);
  const [newest, older] = await Promise.all(
    [file, olderFile(file)].map((name) => stat(name, BIG).catch(() => undefined)),
  );
  if (newest === undefined || newest.ino === own.ino) return undefined;
  // A whole file came between the two when the older one is not ours and was written to after ours.
  const isBetween = older !== undefined && older.ino !== own.ino && older.mtimeNs > own.mtimeNs;
  const [name, { ino }] = isBetween ? [olderFile(file), older] : [file, newest];
  // When it has been renamed since, the next look finds it.
  return openAt(name, { inode: ino, offset: 0 }, onLine);
}

/** Half a line at the end of the file waits for the rest of it. */
function createLineCutter(onLine: (line: string) => void): ReturnType<typeof createByteLines> {
  return createByteLines((text) => {
    for (const line of text.split('\n')) if (line !== '') onLine(line);
  });
}

async function measure(handle: FileHandle): Promise<{ ino: bigint; mtimeNs: bigint; size: number }> {
  const { ino, mtimeNs, size } = await handle.stat(BIG);
  return { ino, mtimeNs, size: Number(size) };
}

async function readBlock(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}
