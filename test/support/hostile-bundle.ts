import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';

/** An object as git would store it; it need not be valid. */
export interface RawObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  readonly data: Buffer;
}

const TYPES = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

export const idOf = ({ type, data }: RawObject): string => digest(Buffer.from(`${type} ${data.length}\0`), data);

export const blob = (text: string): RawObject => ({ type: 'blob', data: Buffer.from(text) });

/** Entries in the given order, not checked. */
export function tree(...entries: readonly (readonly [mode: string, name: string, id: string])[]): RawObject {
  const parts = entries.map(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  return { type: 'tree', data: Buffer.concat(parts.flat()) };
}

export function commit(treeId: string, parents: readonly string[], who = 'A Task <task@example.org>'): RawObject {
  const lines = [`tree ${treeId}`, ...parents.map((parent) => `parent ${parent}`)];
  const text = [...lines, `author ${who} 1700000000 +0000`, `committer ${who} 1700000000 +0000`, '', 'work', ''];
  return { type: 'commit', data: Buffer.from(text.join('\n')) };
}

export function tag(target: RawObject, name: string): RawObject {
  const lines = [
    `object ${idOf(target)}`,
    `type ${target.type}`,
    `tag ${name}`,
    'tagger A Task <task@example.org> 1700000000 +0000',
  ];
  return { type: 'tag', data: Buffer.from([...lines, '', 'work', ''].join('\n')) };
}

/** A bundle with one ref; `size` is the size of an object that the pack claims, which may be wrong. */
export function bundleOf(
  name: string,
  tip: string,
  objects: readonly (RawObject & { readonly size?: number })[],
  prerequisites: readonly string[] = [],
): Buffer {
  const header = ['# v2 git bundle', ...prerequisites.map((id) => `-${id} base`), `${tip} ${name}`, '', ''];
  return Buffer.concat([Buffer.from(header.join('\n')), packOf(objects)]);
}

function packOf(objects: readonly (RawObject & { readonly size?: number })[]): Buffer {
  const start = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  start.writeUInt32BE(objects.length, 8);
  const entries = objects.map(({ type, data, size }) =>
    Buffer.concat([entryStart(TYPES[type], size ?? data.length), deflateSync(data)]),
  );
  const pack = Buffer.concat([start, ...entries]);
  return Buffer.concat([pack, Buffer.from(digest(pack), 'hex')]);
}

/** Four bits of the size beside the type, then seven in each byte. */
function entryStart(type: number, size: number): Buffer {
  const bytes = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) bytes.push(rest & 127);
  return Buffer.from(bytes.map((byte, index) => (index < bytes.length - 1 ? byte | 128 : byte)));
}

function digest(...parts: readonly Buffer[]): string {
  const hash = createHash('sha1');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
