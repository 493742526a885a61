/**
 * What the host and a sandbox agent say to each other, over the agent's stdin and stdout: a header of nine bytes (length of
 * the payload, kind, number of the execution or call), and the payload.
 */
export const FRAME = {
  /** To the agent: what to run (JSON). */
  start: 1,
  /** To the agent: end an execution. */
  kill: 2,
  /** To the agent: how many more bytes of output the host takes (32 bits). */
  credit: 3,
  /** To the agent: a file operation (JSON). */
  call: 4,
  /** To the agent: open the way to the egress proxy (JSON). */
  door: 5,
  /** To the agent: start a fork server (JSON). The answer comes when it is ready, or cannot be. */
  prepare: 6,
  /** From the agent: it is ready (JSON). */
  ready: 16,
  /** From the agent: the program has begun. */
  begun: 21,
  /** From the agent: output, as it was written. */
  stdout: 17,
  stderr: 18,
  /** From the agent: how an execution has ended (JSON). All its output came before. */
  end: 19,
  /** From the agent: the answer to a call (JSON). */
  answer: 20,
} as const;

export type FrameKind = (typeof FRAME)[keyof typeof FRAME];

export interface Frame {
  readonly kind: number;
  readonly id: number;
  readonly payload: Buffer;
}

const HEADER_BYTES = 9;
/** No side sends more in one frame; a longer one comes from a broken or hostile side. */
export const LONGEST_PAYLOAD = 1024 * 1024;

export class FrameTooLong extends Error {
  override readonly name = 'FrameTooLong';
}

export function encodeFrame(kind: FrameKind, id: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(payload.length, 0);
  header.writeUInt8(kind, 4);
  header.writeUInt32BE(id, 5);
  return Buffer.concat([header, payload]);
}

export function encodeJson(kind: FrameKind, id: number, value: unknown): Buffer {
  return encodeFrame(kind, id, Buffer.from(JSON.stringify(value)));
}

export function encodeCredit(id: number, bytes: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(bytes);
  return encodeFrame(FRAME.credit, id, payload);
}

/** Cuts a stream of bytes into frames. Throws FrameTooLong. */
export function createFrameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let length = 0;
  let wanted = HEADER_BYTES;
  return (chunk) => {
    parts.push(chunk);
    length += chunk.length;
    if (length < wanted) return;
    let bytes = parts.length === 1 ? chunk : Buffer.concat(parts);
    for (;;) {
      const size = bytes.length < HEADER_BYTES ? 0 : bytes.readUInt32BE(0);
      if (size > LONGEST_PAYLOAD) throw new FrameTooLong(`a frame of ${size} bytes`);
      wanted = HEADER_BYTES + size;
      if (bytes.length < wanted) break;
      onFrame({ kind: bytes.readUInt8(4), id: bytes.readUInt32BE(5), payload: bytes.subarray(HEADER_BYTES, wanted) });
      bytes = bytes.subarray(wanted);
    }
    parts = [bytes];
    length = bytes.length;
  };
}
