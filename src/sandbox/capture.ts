import type { OutputSink, Stream } from './connection.ts';

/** Keeps the beginning of a program's output, as text; `both` in the order in which it came. */
export function captureOutput(limitBytes: number): {
  readonly sink: OutputSink;
  text(stream: Stream | 'both'): Captured;
} {
  const kept = {
    stdout: createKeeper(limitBytes),
    stderr: createKeeper(limitBytes),
    both: createKeeper(2 * limitBytes),
  };
  return {
    sink: (stream, bytes) => {
      kept[stream].push(bytes);
      kept.both.push(bytes);
    },
    text: (stream) => kept[stream].text(),
  };
}

export interface Captured {
  readonly text: string;
  readonly isCut: boolean;
}

function createKeeper(limitBytes: number): { push(bytes: Buffer): void; text(): Captured } {
  const parts: Buffer[] = [];
  let length = 0;
  let isCut = false;
  return {
    push: (bytes) => {
      const room = limitBytes - length;
      if (bytes.length > room) isCut = true;
      if (room <= 0) return;
      // A copy: a part of a chunk keeps the whole chunk.
      parts.push(Buffer.from(bytes.subarray(0, room)));
      length += Math.min(room, bytes.length);
    },
    text: () => {
      const bytes = Buffer.concat(parts);
      return { text: (isCut ? wholeCharacters(bytes) : bytes).toString('utf8'), isCut };
    },
  };
}

/** Without the character of UTF-8 that the cut has gone through. */
function wholeCharacters(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const wanted = byte >= 0xf8 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return wanted > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}
