import type { IDEFile } from './types.ts';

/** Of one request: the server takes 32 MiB, in which a character may take six. */
const PART_CHARS = 4 * 1024 * 1024;
const PART_FILES = 5000;

type Sending = (IDEFile & { readonly sha256?: string }) | { path: string; sha256: string; executable?: boolean };
type Send = (files: readonly Sending[]) => Promise<{ readonly needed: readonly string[] }>;

export interface SentFiles {
  sync(files: readonly IDEFile[], send: Send): Promise<void>;
}

/** Remembers the hashes of what was sent to a session. */
export function createSentFiles(): SentFiles {
  const known = new Map<string, string>();
  return {
    sync: async (files, send) => {
      const hashed = await Promise.all(files.map(async (file) => ({ file, sha256: await hashOf(file) })));
      const asked = hashed.map(({ file, sha256 }): Sending => {
        const { content: _, encoding: __, ...rest } = file;
        return sha256 !== undefined && known.get(file.path) === sha256 ? { ...rest, sha256 } : file;
      });
      const needed = new Set<string>();
      for (const part of inParts(asked)) for (const path of (await send(part)).needed) needed.add(path);
      for (const part of inParts(files.filter(({ path }) => needed.has(path)))) await send(part);
      for (const { file, sha256 } of hashed) if (sha256 !== undefined) known.set(file.path, sha256);
    },
  };
}

/** Undefined where there is no cryptography: a page that came over plain HTTP from another machine. */
async function hashOf({ content, encoding }: IDEFile): Promise<string | undefined> {
  const { subtle } = globalThis.crypto as Partial<typeof globalThis.crypto>;
  if (subtle === undefined) return undefined;
  const bytes =
    encoding === 'base64'
      ? Uint8Array.from(atob(content), (char) => char.charCodeAt(0))
      : new TextEncoder().encode(content);
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function inParts(files: readonly Sending[]): Sending[][] {
  const parts: Sending[][] = [];
  let chars = Infinity;
  for (const file of files) {
    const part = parts.at(-1);
    chars += file.path.length + ('content' in file ? file.content.length : 0);
    if (part !== undefined && chars <= PART_CHARS && part.length < PART_FILES) part.push(file);
    else {
      parts.push([file]);
      chars = 'content' in file ? file.content.length : 0;
    }
  }
  return parts;
}
