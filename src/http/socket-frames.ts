/** Bits of the two bytes that each frame of a web socket begins with (RFC 6455, 5.2). */
const LAST = 0x80;
const CONTROL = 0x08;
const MASKED = 0x80;
const LENGTH = 0x7f;
const SHORT = 126;

/** Follows what a client sends, to know whether a message of its has begun and has not come as a whole. */
export function followFrames(): { take(chunk: Buffer): void; isWhole(): boolean } {
  let head = Buffer.alloc(0);
  let payload = 0;
  let isOpen = false;
  const readHead = (chunk: Buffer): Buffer => {
    const bytes = Buffer.concat([head, chunk]);
    const length = headLength(bytes);
    if (length === undefined || bytes.length < length) {
      head = bytes;
      return Buffer.alloc(0);
    }
    head = Buffer.alloc(0);
    payload = payloadLength(bytes);
    const [first = 0] = bytes;
    // Between the parts of a message there may be frames that belong to none.
    if ((first & CONTROL) === 0) isOpen = (first & LAST) === 0;
    return bytes.subarray(length);
  };
  return {
    take: (chunk) => {
      for (let rest = chunk; rest.length > 0;) {
        if (payload === 0) rest = readHead(rest);
        const skipped = Math.min(payload, rest.length);
        payload -= skipped;
        rest = rest.subarray(skipped);
      }
    },
    isWhole: () => head.length === 0 && payload === 0 && !isOpen,
  };
}

function headLength([, second]: Buffer): number | undefined {
  if (second === undefined) return undefined;
  const length = second & LENGTH;
  return 2 + (length < SHORT ? 0 : length === SHORT ? 2 : 8) + ((second & MASKED) === 0 ? 0 : 4);
}

function payloadLength(bytes: Buffer): number {
  const length = (bytes[1] ?? 0) & LENGTH;
  if (length < SHORT) return length;
  return length === SHORT ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
}
