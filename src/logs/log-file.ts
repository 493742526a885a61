import { open, rename } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { createWholeLines, reasonOf, sleep } from '../lib/index.ts';
import { olderFile } from './read-log.ts';

/** How much waits for a slow or full disk behind the first piece; beyond it lines are left out. */
const QUEUE_LIMIT = 8 * 1024 * 1024;
/** What a piece takes in memory besides its bytes: there may be millions of empty lines. */
const PIECE_COST = 128;
/** A longer line is cut, because a line is kept in memory until it ends. */
const LONGEST_LINE = 1024 * 1024;
const RETRY_MS = 500;
const LINE_END = 10;
const SLOW = 'the disk was too slow';

/**
 * Writes what a program prints to `file`. At half of `limitBytes` that file becomes `<file>.1` and a new one begins. While
 * the disk is full, lines wait in memory; those that do not fit are left out, and a line says how many.
 */
export function openLogFile(file: string, { limitBytes }: { limitBytes: number }) {
  const target = createTarget(file, Math.max(1, Math.floor(limitBytes / 2)));
  const lines = createWholeLines(LONGEST_LINE);
  const queue = createQueue();
  const closing = new AbortController();
  let trouble = SLOW;
  let draining: Promise<void> | undefined;

  const put = (block: Buffer): void => {
    if (block.length === 0 || closing.signal.aborted) return;
    queue.add(block, trouble);
    draining ??= drain();
  };
  const drain = async (): Promise<void> => {
    for (let block = queue.all(); block.length > 0; block = queue.all()) {
      try {
        queue.drop(await target.append(block));
        trouble = SLOW;
      } catch (error) {
        trouble = reasonOf(error);
        if (closing.signal.aborted) break;
        await sleep(RETRY_MS, closing.signal);
      }
    }
    draining = undefined;
  };
  return {
    /** Takes any piece of the output; never throws. */
    write: (chunk: Buffer | string): void => put(lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)),
    /** Resolves when all is written, or cannot be. */
    close: async (): Promise<void> => {
      put(lines.end());
      closing.abort();
      await draining;
      await target.close();
    },
  };
}

/** What waits for the disk. Where lines are left out because there are too many, a note says so. */
function createQueue() {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let [leftOut, cause] = [0, ''];
  const push = (block: Buffer): void => {
    pieces.push(block);
    bytes += block.length;
  };
  const noteLeftOut = (): void => {
    if (leftOut > 0) push(Buffer.from(`… ${leftOut} lines were left out here: ${cause}\n`));
    leftOut = 0;
  };
  return {
    /** `trouble`: why it has to wait. */
    add: (block: Buffer, trouble: string): void => {
      if (pieces.length > 0 && bytes + pieces.length * PIECE_COST + block.length > QUEUE_LIMIT) {
        [leftOut, cause] = [leftOut + countLines(block), trouble];
        return;
      }
      noteLeftOut();
      push(block);
    },
    /** In one piece: a write for each line would be slower than the program that prints them. */
    all: (): Buffer => {
      const all = Buffer.concat(pieces);
      pieces = all.length > 0 ? [all] : [];
      return all;
    },
    /** Takes away the beginning of what `all` has given. */
    drop: (length: number): void => {
      const rest = pieces.shift()?.subarray(length);
      if (rest !== undefined && rest.length > 0) pieces.unshift(rest);
      bytes -= length;
      if (pieces.length === 0) noteLeftOut();
    },
  };
}

interface OpenFile {
  readonly handle: FileHandle;
  size: number;
}

function createTarget(file: string, halfBytes: number) {
  let current: OpenFile | undefined;
  const close = async (): Promise<void> => {
    const handle = current?.handle;
    current = undefined;
    await handle?.close().catch(() => undefined);
  };
  return {
    /** Writes the beginning of the block, and returns the length of that; when it throws, nothing is written. */
    append: async (block: Buffer): Promise<number> => {
      // No reader would find what is written to a file that has been removed.
      if (current !== undefined && (await current.handle.stat()).nlink === 0) await close();
      const { size } = (current ??= await openToAppend(file));
      let length = wholeLinesIn(block, halfBytes - size);
      if (length === 0 && size > 0) {
        await close();
        await rename(file, olderFile(file));
      }
      // A single line that is too long for any file is written all the same.
      length ||= wholeLinesIn(block, halfBytes) || block.indexOf(LINE_END) + 1;
      try {
        await appendWhole((current ??= await openToAppend(file)), block.subarray(0, length));
      } catch (error) {
        // What is wrong may be this handle alone: the folder may be a new one.
        await close();
        throw error;
      }
      return length;
    },
    close,
  };
}

/** All or nothing: what is written again after a failure must not be there twice. */
async function appendWhole(file: OpenFile, bytes: Buffer): Promise<void> {
  try {
    await file.handle.appendFile(bytes);
    file.size += bytes.length;
  } catch (error) {
    await file.handle.truncate(file.size).catch(() => undefined);
    throw error;
  }
}

/** The length of the whole lines that fit. */
function wholeLinesIn(block: Buffer, room: number): number {
  if (block.length <= room) return block.length;
  return room <= 0 ? 0 : block.lastIndexOf(LINE_END, room - 1) + 1;
}

/** A killed writer may have left half a line: then a line end is added first. */
async function openToAppend(file: string): Promise<OpenFile> {
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
