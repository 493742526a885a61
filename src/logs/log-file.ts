import { open, rename } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createWholeLines, reasonOf, sleep } from '../lib/index.ts';
import { olderFile } from './read-log.ts';

/** What waits for a slow or full disk; beyond it lines are left out. */
const QUEUE_LIMIT = 8 * 1024 * 1024;
/** What a piece takes in memory beside its bytes: there may be millions of empty lines. */
const PIECE_COST = 128;
/** A line that is longer is broken in two: what is half a line is kept in memory. */
const LONGEST_LINE = 1024 * 1024;
const RETRY_MS = 500;
const LINE_END = 10;
const SLOW = 'the disk was too slow';

export interface LogFile {
  /** Takes any piece of the output; never throws. */
  write(chunk: Buffer | string): void;
  /** Resolves when all is written, or cannot be. */
  close(): Promise<void>;
}

/**
 * Keeps what something prints: the newest half to whole of `limitBytes`, in `file` and the one before it (`<file>.1`).
 * Where the disk is full it waits in memory, and beyond what fits there it leaves lines out and says how many.
 */
export function openLogFile(file: string, { limitBytes }: { limitBytes: number }): LogFile {
  const target = createTarget(file, Math.max(1, Math.floor(limitBytes / 2)));
  const lines = createWholeLines(LONGEST_LINE);
  const closing = new AbortController();
  let queue: Buffer[] = [];
  let queued = 0;
  let leftOut = 0;
  let trouble = SLOW;
  let cause = SLOW;
  let draining: Promise<void> | undefined;

  const put = (block: Buffer): void => {
    if (queued + queue.length * PIECE_COST + block.length > QUEUE_LIMIT) {
      [leftOut, cause] = [leftOut + countLines(block), trouble];
      return;
    }
    // Said where they are missing, so before the first line that has room again.
    noteLeftOut();
    queue.push(block);
    queued += block.length;
    draining ??= drain();
  };
  const noteLeftOut = (): void => {
    if (leftOut === 0) return;
    const note = Buffer.from(`… ${leftOut} lines were left out here: ${cause}\n`);
    queue.push(note);
    queued += note.length;
    leftOut = 0;
  };
  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      // All at once: a write for each line would be slower than the program that prints them.
      const block = Buffer.concat(queue);
      queue = [block];
      try {
        const written = await target.append(block);
        queued -= written;
        trouble = SLOW;
        queue.splice(0, 1, ...(written < block.length ? [block.subarray(written)] : []));
        if (queue.length === 0) noteLeftOut();
      } catch (error) {
        trouble = reasonOf(error);
        if (closing.signal.aborted) break;
        await sleep(RETRY_MS, closing.signal);
      }
    }
    draining = undefined;
  };

  return {
    write: (chunk) => {
      const block = lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
      if (block.length > 0 && !closing.signal.aborted) put(block);
    },
    close: async () => {
      const rest = lines.end();
      if (rest.length > 0 && !closing.signal.aborted) put(rest);
      closing.abort();
      await draining;
      queue = [];
      await target.close();
    },
  };
}

interface Target {
  /** Writes the beginning of the block, and tells how much of it; when it throws, none. */
  append(block: Buffer): Promise<number>;
  close(): Promise<void>;
}

function createTarget(file: string, halfBytes: number): Target {
  let current: { readonly handle: FileHandle; size: number } | undefined;
  const close = async (): Promise<void> => {
    const handle = current?.handle;
    current = undefined;
    await handle?.close().catch(() => undefined);
  };
  /** What is written to a file that has lost its name is written for no reader. */
  const openNamed = async (): Promise<{ readonly handle: FileHandle; size: number }> => {
    if (current !== undefined && (await current.handle.stat()).nlink === 0) await close();
    return (current ??= await openToAppend(file));
  };
  const write = async (bytes: Buffer): Promise<number> => {
    const { handle, size } = (current ??= await openToAppend(file));
    try {
      await handle.appendFile(bytes);
      current.size = size + bytes.length;
      return bytes.length;
    } catch (error) {
      // The beginning of it may be there. It comes again as a whole, so it goes; also from a full disk.
      await handle.truncate(size).catch(() => undefined);
      // What is wrong may be this handle alone: the folder may be a new one.
      await close();
      throw error;
    }
  };
  return {
    append: async (block) => {
      const { size } = await openNamed();
      const fits = wholeLinesIn(block, halfBytes - size);
      if (fits > 0) return write(block.subarray(0, fits));
      if (size > 0) {
        await close();
        await rename(file, olderFile(file));
      }
      // A single line that is too long for any file is in one all the same.
      return write(block.subarray(0, wholeLinesIn(block, halfBytes) || block.indexOf(LINE_END) + 1));
    },
    close,
  };
}

/** How much of it fits, cut at a line end. */
function wholeLinesIn(block: Buffer, room: number): number {
  if (block.length <= room) return block.length;
  return room <= 0 ? 0 : block.lastIndexOf(LINE_END, room - 1) + 1;
}

/** A writer that was killed may have left half a line: what comes now must not be its other half. */
async function openToAppend(file: string): Promise<{ handle: FileHandle; size: number }> {
  const handle = await open(file, 'a+');
  try {
    const { size } = await handle.stat();
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    if (bytesRead === 0 || buffer[0] === LINE_END) return { handle, size };
    await handle.appendFile('\n');
    return { handle, size: size + 1 };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function countLines(block: Buffer): number {
  let count = 0;
  for (let at = block.indexOf(LINE_END); at !== -1; at = block.indexOf(LINE_END, at + 1)) count += 1;
  return count;
}
