import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { sleep, systemCode } from '../lib/index.ts';

const BLOCK = 65_536;

interface LogEnd {
  readonly lines: string[];
  /** Where a follower goes on. */
  readonly offset: number;
}

/** The last `count` lines that match, oldest first, read from the end of the file. A missing file has no lines. */
export async function lastLines(file: string, count: number, matches: (line: string) => boolean): Promise<LogEnd> {
  const handle = await openIfThere(file);
  if (handle === undefined) return { lines: [], offset: 0 };
  try {
    const { size } = await handle.stat();
    const found: string[] = [];
    let end = size;
    // What follows the first line end of what was read so far, last piece first: put together once, however long.
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
        // What follows the last line end is not a line yet.
        const lines = text.split('\n').slice(0, -1);
        found.unshift(...lines.filter((line) => line !== '' && matches(line)));
        offset ??= start + whole.lastIndexOf(10) + 1;
        tail = [Buffer.from(block.subarray(0, cut + 1))];
      }
      end = start;
    }
    return { lines: count === 0 ? [] : found.slice(-count), offset: offset ?? 0 };
  } finally {
    await handle.close();
  }
}

/** Calls back for every line that is appended from `offset` on, until the signal fires. */
export async function followLines(
  file: string,
  offset: number,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let position = offset;
  let lines = createLineCutter(onLine);
  while (!signal.aborted) {
    const handle = await openIfThere(file);
    if (handle !== undefined) {
      try {
        const { size } = await handle.stat();
        if (size < position) [position, lines] = [0, createLineCutter(onLine)];
        while (position < size) {
          const block = await readBlock(handle, position, Math.min(size, position + BLOCK));
          if (block.length === 0) break;
          position += block.length;
          lines.push(block);
        }
      } finally {
        await handle.close();
      }
    }
    await sleep(150, signal);
  }
}

/** Works on bytes: a block may end within a character. A line in many blocks is put together once. */
function createLineCutter(onLine: (line: string) => void): { push(block: Buffer): void } {
  let rest: Buffer[] = [];
  return {
    push: (block) => {
      const cut = block.lastIndexOf(10);
      if (cut === -1) return void rest.push(block);
      const whole = Buffer.concat([...rest, block.subarray(0, cut)]);
      rest = [Buffer.from(block.subarray(cut + 1))];
      for (const line of whole.toString('utf8').split('\n')) if (line !== '') onLine(line);
    },
  };
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function readBlock(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}
