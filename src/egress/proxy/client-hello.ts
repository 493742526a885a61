/** What a TLS client says of its server before anything is encrypted. */
export interface ClientHello {
  /** The name it asks for, as it is written; undefined when it names none. */
  readonly name: string | undefined;
  /** It carries another name encrypted, or looks as if: nothing shows the difference. */
  readonly hidesName: boolean;
}

const HANDSHAKE_RECORD = 22;
const CLIENT_HELLO = 1;
const MAX_RECORD = 16_384;
/** Some clients cut it in two. */
const MAX_RECORDS = 256;
/** Real ones have 200 bytes to 3 KB. */
const MAX_HELLO = 16_384;
const SERVER_NAME = 0;
const HOST_NAME = 0;
/** Encrypted client hello, and what came before it. */
const HIDDEN_NAMES = new Set([0xfe_0d, 0xff_ce]);

/** Pure. Do these bytes begin as TLS does? */
export function looksLikeTls(bytes: Uint8Array): boolean {
  return bytes[0] === HANDSHAKE_RECORD;
}

/**
 * Pure. The hello at the beginning of a connection, in however many records; "more" while some of it is missing; "none"
 * when it is not one.
 */
export function readClientHello(bytes: Buffer): ClientHello | 'more' | 'none' {
  const message = Buffer.alloc(Math.min(bytes.length, MAX_HELLO + 1));
  let has = 0;
  for (let at = 0, count = 1; count <= MAX_RECORDS; count += 1) {
    const record = recordAt(bytes, at);
    if (typeof record === 'string') return record;
    has += record.part.copy(message, has);
    const wanted = lengthOf(message.subarray(0, has));
    // A server takes it only alone in its records.
    if (wanted === 'none' || has > wanted) return 'none';
    if (!record.whole) return 'more';
    if (has === wanted) return readHello(message.subarray(4, has)) ?? 'none';
    at += 5 + record.part.length;
  }
  return 'none';
}

/** What there is of the record that begins there. */
function recordAt(bytes: Buffer, at: number): { part: Buffer; whole: boolean } | 'more' | 'none' {
  if (bytes.length > at && bytes[at] !== HANDSHAKE_RECORD) return 'none';
  if (bytes.length < at + 5) return 'more';
  const length = bytes.readUInt16BE(at + 3);
  if (bytes[at + 1] !== 3 || length === 0 || length > MAX_RECORD) return 'none';
  const part = bytes.subarray(at + 5, at + 5 + length);
  return { part, whole: part.length === length };
}

/** The length of the message that begins so; the longest possible one while its length has not come. */
function lengthOf(message: Buffer): number | 'none' {
  if (message.length >= 1 && message[0] !== CLIENT_HELLO) return 'none';
  const length = message.length >= 4 ? 4 + message.readUIntBE(1, 3) : MAX_HELLO;
  return length > MAX_HELLO ? 'none' : length;
}

/** Reads a message from its beginning to its end; what is too short for what it says throws. */
function readerOf(bytes: Buffer): {
  take(count: number): Buffer;
  sized(width: 1 | 2): Buffer;
  number(): number;
  left(): number;
} {
  let at = 0;
  const take = (count: number): Buffer => {
    if (at + count > bytes.length) throw new RangeError('too short');
    at += count;
    return bytes.subarray(at - count, at);
  };
  return {
    take,
    sized: (width) => take(take(width).readUIntBE(0, width)),
    number: () => take(2).readUInt16BE(0),
    left: () => bytes.length - at,
  };
}

/** Undefined when it is malformed: a server might read it otherwise than we do. */
function readHello(body: Buffer): ClientHello | undefined {
  try {
    const hello = readerOf(body);
    // Version and random; session, ciphers and compressions.
    hello.take(34);
    for (const width of [1, 2, 1] as const) hello.sized(width);
    if (hello.left() === 0) return { name: undefined, hidesName: false };
    const extensions = readerOf(hello.sized(2));
    const found = new Map<number, Buffer>();
    while (extensions.left() > 0) {
      const type = extensions.number();
      if (found.has(type)) return undefined;
      found.set(type, extensions.sized(2));
    }
    if (hello.left() > 0) return undefined;
    const names = found.get(SERVER_NAME);
    const hidesName = [...found.keys()].some((type) => HIDDEN_NAMES.has(type));
    return { name: names === undefined ? undefined : nameIn(names), hidesName };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The one name of the list. No client sends a second one, or one of another kind. */
function nameIn(extension: Buffer): string {
  const outer = readerOf(extension);
  const list = readerOf(outer.sized(2));
  const [kind] = list.take(1);
  const name = list.sized(2);
  if (kind !== HOST_NAME || name.length === 0 || list.left() > 0 || outer.left() > 0)
    throw new RangeError('not one name');
  return name.toString('latin1');
}
