import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { removeTree } from '../lib/index.ts';

/** What git does not track in a worktree, by its path: of a file all that changes when it is written or replaced. */
type Untracked = ReadonlyMap<string, string>;

interface Worktree {
  readonly folder: string;
  /** The files that git tracks there. */
  readonly tracked: () => Promise<readonly string[]>;
}

/** What a set-up has made. */
export interface SetupRecord {
  /** Removes what came later. False when something of the set-up is changed or gone: then it has to run again. */
  restore(): Promise<boolean>;
}

/** To be called when the worktree is as the set-up has left it. */
export async function recordSetup(worktree: Worktree): Promise<SetupRecord> {
  // What cannot be read now cannot be compared later.
  const made = await findUntracked(worktree).catch(() => undefined);
  return { restore: async () => made !== undefined && (await restore(worktree, made).catch(() => false)) };
}

async function restore(worktree: Worktree, made: Untracked): Promise<boolean> {
  const now = await findUntracked(worktree);
  for (const [entry, facts] of made) if (now.get(entry) !== facts) return false;
  // A folder comes before what is in it, and takes that along.
  for (const entry of now.keys()) if (!made.has(entry)) await removeTree(path.join(worktree.folder, entry));
  return true;
}

async function findUntracked({ folder, tracked }: Worktree): Promise<Untracked> {
  const known = new Set(['.git']);
  for (const file of await tracked()) addWithParents(known, file);
  const found = new Map<string, string>();
  const look = async (inside: string): Promise<void> => {
    const entries = await readdir(path.join(folder, inside), { withFileTypes: true });
    await Promise.all(
      entries.map(async (entry) => {
        const name = path.posix.join(inside, entry.name);
        if (!known.has(name)) found.set(name, await factsOf(path.join(folder, name)));
        if (entry.isDirectory() && name !== '.git') await look(name);
      }),
    );
  };
  await look('');
  return found;
}

function addWithParents(known: Set<string>, file: string): void {
  for (let name = file; name !== '.' && !known.has(name); name = path.posix.dirname(name)) known.add(name);
}

/** The time of the last change is set by the system alone. Of a folder what is in it is looked at instead. */
async function factsOf(file: string): Promise<string> {
  const stat = await lstat(file, { bigint: true });
  const { dev, ino, mode, size, mtimeNs, ctimeNs } = stat;
  return (stat.isDirectory() ? [dev, ino, mode] : [dev, ino, mode, size, mtimeNs, ctimeNs]).join(' ');
}
