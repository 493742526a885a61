import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** A part of a frame's content; a large frame comes in several. */
export interface Piece {
  /** `engine`: an error of the engine, which the container has not printed. */
  readonly stream: 'stdout' | 'stderr' | 'engine';
  readonly data: Buffer;
}

const HEADER_BYTES = 8;
/** By the first byte of a header. 0, the echo of stdin, counts as stdout, as in the engine's own client. */
const STREAMS: readonly Piece['stream'][] = ['stdout', 'stdout', 'stderr', 'engine'];

/**
 * Takes the engine's mixed stream apart: frames of an 8-byte header (stream, 0, 0, 0, length) and content. Content is
 * passed on in slices of what was read: nothing is copied, however large a frame is.
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

/** Writes each piece to its sink, no faster than both are read. What is for a destroyed sink is dropped. */
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
  const over = new AbortController();
  const { signal } = over;
  try {
    await Promise.race([once(sink, 'drain', { signal }), once(sink, 'close', { signal })]);
  } finally {
    over.abort();
  }
}
