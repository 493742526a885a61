import { cp } from 'node:fs/promises';
import path from 'node:path';
import { removeTree } from '../lib/index.ts';
import { findUntracked } from './untracked.ts';
import type { Untracked, Worktree } from './untracked.ts';

/** What a set-up has made. */
export interface SetupRecord {
  /** Removes what came later, and puts back what was changed. False when there is no copy of that: the set-up has to run again. */
  restore(): Promise<boolean>;
}

/** What is built is small, and is built again by tasks and gates. Packages are large, and nothing changes them. */
interface Copying {
  readonly folder: string;
  /** The most that all copies take together. */
  readonly bytes: number;
}

/** By the names of what they are of. */
type Copies = ReadonlyMap<string, string>;

const NO_COPIES: Copies = new Map();
const MOST_FILES = 2000;
const COPY = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };

/** To be called when the worktree is as the set-up has left it. */
export async function recordSetup(worktree: Worktree, copying: Copying): Promise<SetupRecord> {
  // What cannot be read now cannot be compared later.
  const first = await findUntracked(worktree).catch(() => undefined);
  if (first === undefined) return { restore: async () => false };
  const copies = await copySmall(worktree.folder, first, copying).catch(() => NO_COPIES);
  let made: Untracked | undefined = first;
  return {
    restore: async () => {
      made &&= await putBack(worktree, made, copies).catch(() => undefined);
      return made !== undefined;
    },
  };
}

/** Returns what is there then; undefined when that is not what the set-up has made. */
async function putBack(worktree: Worktree, made: Untracked, copies: Copies): Promise<Untracked | undefined> {
  const at = (name: string): string => path.join(worktree.folder, name);
  const now = await findUntracked(worktree);
  for (const name of now.keys()) if (!made.has(name)) await removeTree(at(name));
  const changed = [...made].filter(([name, { facts }]) => now.get(name)?.facts !== facts);
  const tops = new Set(changed.map(([, { top }]) => top));
  if (tops.size === 0) return made;
  for (const top of tops) if (!copies.has(top)) return undefined;
  for (const top of tops) {
    await removeTree(at(top));
    await cp(copies.get(top) ?? '', at(top), COPY);
  }
  return findUntracked(worktree);
}

/** The smallest first, as long as there is room. */
async function copySmall(worktree: string, made: Untracked, { folder, bytes: most }: Copying): Promise<Copies> {
  await removeTree(folder);
  const copies = new Map<string, string>();
  const taken = { bytes: 0, files: 0 };
  for (const [top, { bytes, files }] of sizesOf(made)) {
    if (taken.bytes + bytes > most || taken.files + files > MOST_FILES) break;
    taken.bytes += bytes;
    taken.files += files;
    const copy = path.join(folder, String(copies.size));
    await cp(path.join(worktree, top), copy, COPY);
    copies.set(top, copy);
  }
  return copies;
}

interface Size {
  readonly bytes: number;
  readonly files: number;
}

function sizesOf(made: Untracked): readonly (readonly [string, Size])[] {
  const sizes = new Map<string, Size>();
  for (const { top, bytes } of made.values()) {
    const size = sizes.get(top) ?? { bytes: 0, files: 0 };
    sizes.set(top, { bytes: size.bytes + bytes, files: size.files + 1 });
  }
  return [...sizes].toSorted(([, one], [, other]) => one.bytes - other.bytes);
}
