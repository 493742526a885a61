import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** A part of a frame's content; big frames come in several pieces. */
export interface Piece {
  /** `engine`: the engine itself complains, its container did not print this. */
  readonly stream: 'stdout' | 'stderr' | 'engine';
  readonly data: Buffer;
}

const HEADER_BYTES = 8;
/** What the first byte of a header says. What echoes stdin counts as stdout, as the engine's own client has it. */
const STREAMS: readonly Piece['stream'][] = ['stdout', 'stdout', 'stderr', 'engine'];

/**
 * Takes the engine's mixed stream apart: 8 bytes of header (stream, 0, 0, 0, length), content, and so on. Content is
 * passed on as it comes, in slices of what was read: nothing is put together, so the size of a frame costs nothing.
 */
export function createFrameReader(): (chunk: Buffer) => Generator<Piece, void, undefined> {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerFill = 0;
  let left = 0;
  let stream: Piece['stream'] = 'stdout';
  return function* read(chunk) {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const taken = chunk.copy(header, headerFill, at, at + HEADER_BYTES - headerFill);
        at += taken;
        headerFill += taken;
        if (headerFill < HEADER_BYTES) return;
        headerFill = 0;
        stream = streamOf(header);
        left = header.readUInt32BE(4);
      } else {
        const data = chunk.subarray(at, at + left);
        at += data.length;
        left -= data.length;
        yield { stream, data };
      }
    }
  };
}

function streamOf(header: Buffer): Piece['stream'] {
  const stream = STREAMS[header.readUInt8(0)];
  if (stream === undefined || header.readUIntBE(1, 3) !== 0) {
    throw new Error(`the output has no frames: found ${header.toString('hex')} in place of a header`);
  }
  return stream;
}

/** Writes each part where it belongs, no faster than both are read. A side that is not wanted any more is skipped. */
export async function demultiplex(source: Readable, stdout: Writable, stderr: Writable): Promise<void> {
  const read = createFrameReader();
  for await (const chunk of source) {
    for (const { stream, data } of read(chunk as Buffer)) {
      const sink = stream === 'stdout' ? stdout : stderr;
      if (!sink.destroyed) sink.write(data);
    }
    await Promise.all([stdout, stderr].map(drained));
  }
}

async function drained(sink: Writable): Promise<void> {
  if (!sink.writableNeedDrain || sink.destroyed) return;
  const gaveUp = new AbortController();
  const { signal } = gaveUp;
  try {
    await Promise.race([once(sink, 'drain', { signal }), once(sink, 'close', { signal })]);
  } finally {
    gaveUp.abort();
  }
}
