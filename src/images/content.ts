import { createHash } from 'node:crypto';
import type { ImageBuild } from '../engines/index.ts';
import { digestOf } from '../lib/index.ts';

export type ContextFile = ImageBuild['files'][number];

/** A file with the same mode whatever the umask of this machine is. */
export function contextFile(path: string, content: Uint8Array | string, executable = false): ContextFile {
  return { path, content: Buffer.from(content), mode: executable ? 0o755 : 0o644 };
}

/** One hash over the paths, modes and bytes of files, in whatever order they are listed. */
export function hashFiles(files: readonly ContextFile[]): string {
  const hash = createHash('sha256');
  for (const { path, content, mode } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(`${JSON.stringify([path, mode, content.byteLength])}\n`).update(content);
  }
  return hash.digest('hex');
}

/** One hash over named values, in whatever order. */
export function hashValues(values: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return digestOf(JSON.stringify(sorted));
}

/** The part of a content hash that a tag shows. */
export function tagOf(repository: string, content: string): string {
  return `${repository}:${content.slice(0, 12)}`;
}
