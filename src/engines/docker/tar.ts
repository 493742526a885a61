import type { ImageBuild } from '../engine.ts';

type TarFile = ImageBuild['files'][number];

const BLOCK = 512;
const NAME_BYTES = 100;

/** A tar archive of regular files, without times and owners: the same files give the same bytes. */
export function* packTar(files: readonly TarFile[]): Generator<Uint8Array, void, undefined> {
  for (const file of files) {
    if (isLong(file.path)) yield* longName(file.path);
    yield* entry(file, '0');
  }
  yield Buffer.alloc(2 * BLOCK);
}

const isLong = (name: string): boolean => Buffer.byteLength(name) > NAME_BYTES;

/** A pax entry before the file's own holds a name that does not fit into the header. */
function longName(name: string): Generator<Uint8Array, void, undefined> {
  const record = ` path=${name}\n`;
  let length = Buffer.byteLength(record);
  // The length counts its own digits.
  while (length !== Buffer.byteLength(record) + String(length).length) {
    length = Buffer.byteLength(record) + String(length).length;
  }
  return entry({ path: 'pax', mode: 0o644, content: Buffer.from(`${length}${record}`) }, 'x');
}

function* entry(file: TarFile, type: '0' | 'x'): Generator<Uint8Array, void, undefined> {
  yield headerOf(file, type);
  yield file.content;
  yield Buffer.alloc((BLOCK - (file.content.byteLength % BLOCK)) % BLOCK);
}

function headerOf({ path, mode, content }: TarFile, type: '0' | 'x'): Buffer {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void => {
    header.write(`${value.toString(8).padStart(digits, '0')}\0`, at);
  };
  Buffer.from(path).copy(header, 0, 0, NAME_BYTES);
  octal(mode & 0o7777, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(content.byteLength, 124, 11);
  octal(0, 136, 11);
  header.write('        ', 148);
  header.write(type, 156);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
