import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { openIfThere, syncFolder } from '../lib/index.ts';
import type { NumberedEvent } from './events.ts';

/** How much of the end is read at first: about two hundred events. The snapshot is hardly ever older than that. */
const TAIL_BYTES = 64 * 1024;

/** Adds the events to the log. They are on the disk when this resolves. */
export async function appendEvents(file: string, events: readonly NumberedEvent[]): Promise<void> {
  if (events.length === 0) return;
  const handle = await open(file, 'a+');
  try {
    const size = await cutHalfLine(handle);
    try {
      await handle.appendFile(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
      await handle.datasync();
    } catch (error) {
      // All or nothing: after a full disk the same events are written again, and must not be there twice.
      await handle.truncate(size).catch(() => undefined);
      throw error;
    }
    if (size === 0) await syncFolder(path.dirname(file));
  } finally {
    await handle.close();
  }
}

/** Cuts off half a line that a crash has left: no reader counts it, and the next line must not follow it. Returns the size. */
async function cutHalfLine(handle: FileHandle): Promise<number> {
  const { size } = await handle.stat();
  if (await endsWithLine(handle, size)) return size;
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

async function endsWithLine(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
  return buffer[0] === 10;
}

/**
 * The events after the one with this number, in order. None when one of them is missing: an older snapshot is true, a sum
 * with a gap is not.
 */
export async function eventsAfter(file: string, known: number): Promise<NumberedEvent[]> {
  const handle = await openIfThere(file);
  if (handle === undefined) return [];
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

/** Only whole lines: the first may begin earlier, and the last may still be being written. */
async function linesFrom(handle: FileHandle, from: number, to: number): Promise<string[]> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from);
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(0, -1);
  return from === 0 ? lines : lines.slice(1);
}

/** Reads from the end: earlier lines may be of a run whose snapshot was removed, with the same numbers. Undefined with a gap. */
function unbroken(lines: readonly string[], known: number): NumberedEvent[] | undefined {
  const events: NumberedEvent[] = [];
  for (const line of lines.toReversed()) {
    const event = parseLine(line);
    if (event === undefined) continue;
    const next = events.at(-1)?.seq ?? event.seq + 1;
    if (event.seq <= known && events.length === 0) return [];
    // After a failed write an event may be there twice: the later one counts.
    if (event.seq >= next) continue;
    if (event.seq < next - 1) return undefined;
    events.push(event);
    if (event.seq === known + 1) return events.toReversed();
  }
  return undefined;
}

/** Undefined for half a line that a crash has left, and for an event of a version that did not number them. */
function parseLine(line: string): NumberedEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    const numbered = typeof value === 'object' && value !== null && 'seq' in value && Number.isInteger(value.seq);
    return numbered ? (value as NumberedEvent) : undefined;
  } catch {
    return undefined;
  }
}
