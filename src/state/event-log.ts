import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { syncFolder, systemCode } from '../lib/index.ts';
import type { NumberedEvent } from './events.ts';

/** What is read of the log's end at first: some two hundred events. The snapshot is hardly ever that old. */
const TAIL_BYTES = 64 * 1024;

/** Adds lines to the log; they are on the disk when this resolves. */
export async function appendEvents(file: string, events: readonly NumberedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const handle = await open(file, 'a+');
  try {
    const size = await cutHalfLine(handle);
    try {
      await handle.appendFile(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      await handle.datasync();
    } catch (error) {
      // All or nothing: what is written again after a full disk must not stand there twice.
      await handle.truncate(size).catch(() => undefined);
      throw error;
    }
    if (size === 0) await syncFolder(path.dirname(file));
  } finally {
    await handle.close();
  }
}

/** A crash may have left half a line: no reader counts it, and it must not spoil the next one. Returns the size. */
async function cutHalfLine(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  for (let end = size; end > 0; end -= TAIL_BYTES) {
    const from = Math.max(0, end - TAIL_BYTES);
    const { buffer } = await handle.read(Buffer.alloc(end - from), 0, end - from, from);
    const whole = buffer.lastIndexOf(10) + 1;
    if (whole === 0 && from > 0) continue;
    if (from + whole < size) await handle.truncate(from + whole);
    return from + whole;
  }
  return size;
}

/**
 * The events that the log has beyond the one of this number, in order. None when one of them is missing: a snapshot that
 * is a little old is true, a sum with a gap is not.
 */
export async function eventsAfter(file: string, known: number): Promise<NumberedEvent[]> {
  let handle;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
  try {
    const { size } = await handle.stat();
    for (let bytes = TAIL_BYTES; ; bytes *= 4) {
      const from = Math.max(0, size - bytes);
      const events = unbroken(await linesFrom(handle, from, size), known);
      if (events !== undefined) return events;
      if (from === 0) return [];
    }
  } finally {
    await handle.close();
  }
}

/** Only whole lines: the first may begin earlier, the last may be still being written. */
async function linesFrom(handle: FileHandle, from: number, to: number): Promise<string[]> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
  return from === 0 ? lines : lines.slice(1);
}

/** Read from the end: before them may stand lines of a run whose snapshot was removed, with the same numbers. */
function unbroken(lines: readonly string[], known: number): NumberedEvent[] | undefined {
  const events: NumberedEvent[] = [];
  for (const line of lines.toReversed()) {
    const event = parseLine(line);
    if (event === undefined) continue;
    const next = events.at(-1)?.seq ?? event.seq + 1;
    if (event.seq <= known && events.length === 0) return [];
    // Written twice after a failed write: the later one counts.
    if (event.seq >= next) continue;
    if (event.seq < next - 1) return undefined;
    events.push(event);
    if (event.seq === known + 1) return events.toReversed();
  }
  return undefined;
}

/** Half a line that a crash has left is no event, nor is one of a version that did not number them. */
function parseLine(line: string): NumberedEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const numbered = typeof value === 'object' && value !== null && 'seq' in value && Number.isInteger(value.seq);
    return numbered ? (value as NumberedEvent) : undefined;
  } catch {
    return undefined;
  }
}
