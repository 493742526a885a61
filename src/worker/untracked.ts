import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';

export interface Worktree {
  readonly folder: string;
  /** The files that git tracks there. */
  readonly tracked: () => Promise<readonly string[]>;
  /** Files that are copied there before each attempt, whatever the one before has made of them. */
  readonly copied: () => Promise<readonly string[]>;
}

interface Entry {
  /** Of a file all that changes when it is written or replaced. */
  readonly facts: string;
  readonly bytes: number;
  /** The uppermost entry that it is in, which may be itself. */
  readonly top: string;
}

/** What is in a worktree beside the files of git and the copied ones, by path; a folder comes before what is in it. */
export type Untracked = ReadonlyMap<string, Entry>;

export async function findUntracked({ folder, tracked, copied }: Worktree): Promise<Untracked> {
  const known = withParents(['.git', ...(await tracked())]);
  const copies = await copied();
  const [files, folders] = [new Set(copies), withParents(copies.map((file) => path.posix.dirname(file)))];
  const isCopied = (name: string, entry: Dirent): boolean => (entry.isDirectory() ? folders : files).has(name);
  const found = new Map<string, Entry>();
  const look = async (inside: string): Promise<void> => {
    const entries = await readdir(path.join(folder, inside), { withFileTypes: true });
    await Promise.all(
      entries.map(async (entry) => {
        const name = path.posix.join(inside, entry.name);
        if (!known.has(name) && !isCopied(name, entry)) {
          const top = found.get(inside)?.top ?? name;
          found.set(name, { ...(await entryAt(path.join(folder, name))), top });
        }
        if (entry.isDirectory() && name !== '.git') await look(name);
      }),
    );
  };
  await look('');
  return found;
}

function withParents(files: readonly string[]): Set<string> {
  const known = new Set<string>();
  for (const file of files)
    for (let name = file; name !== '.' && !known.has(name); name = path.posix.dirname(name)) known.add(name);
  return known;
}

async function entryAt(file: string): Promise<Omit<Entry, 'top'>> {
  const stat = await lstat(file, { bigint: true });
  const { dev, ino, mode, size, mtimeNs, ctimeNs, nlink } = stat;
  // What is in a folder is looked at instead.
  if (stat.isDirectory()) return { facts: [dev, ino, mode].join(' '), bytes: 0 };
  // The system alone sets the time of the last change, but it does so with each new name. Stores of packages (pnpm, uv)
  // give a file one name in each worktree.
  const changed = nlink > 1n ? 'of many names' : ctimeNs;
  return { facts: [dev, ino, mode, size, mtimeNs, changed].join(' '), bytes: Number(size) };
}
