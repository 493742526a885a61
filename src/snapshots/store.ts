import { readdir, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  makeFolder,
  modifiedAt,
  randomId,
  readIfThere,
  readJson,
  removeTree,
  run,
  systemCode,
  writeFileAtomic,
} from '../lib/index.ts';

/** The checkout of a commit, and what the set-up has made of it. Nothing writes into it any more. */
export interface Snapshot {
  readonly id: string;
  readonly commit: string;
  /** Its folders, from the top down. */
  readonly lower: readonly string[];
  /** Git's index of the checkout. */
  readonly index: string;
  readonly isSetUp: boolean;
}

const facts = z.strictObject({
  version: z.literal(1),
  /** What the snapshot depends on beside its commit. */
  key: z.string(),
  commit: z.string(),
  isSetUp: z.boolean(),
  /** It may serve other commits than its own. */
  isShared: z.boolean(),
  bytes: z.number(),
});
export type SnapshotFacts = Omit<z.infer<typeof facts>, 'version'>;

export interface KeptSnapshot extends SnapshotFacts {
  readonly id: string;
  /** By the clock of the file system. */
  readonly usedAt: number;
}

const FACTS = 'snapshot.json';
const GONE = 'gone-';

/** The parts of a snapshot, in a draft or in its place. */
export const partsOf = (folder: string) => ({
  tree: path.join(folder, 'tree'),
  /** What the set-up has changed. */
  setUp: path.join(folder, 'set-up'),
  index: path.join(folder, 'index'),
});

export type SnapshotStore = ReturnType<typeof openSnapshotStore>;

/** Snapshots of all runs of this user. Each has a folder, which appears as a whole. */
export function openSnapshotStore(top: string) {
  const folderOf = (id: string): string => path.join(top, id);
  /** Out of the way at once: what is left of it then is no snapshot, also when this is broken off. */
  const remove = async (id: string): Promise<void> => {
    const gone = folderOf(`${GONE}${randomId()}`);
    await rename(folderOf(id), gone);
    await removeTree(gone);
  };
  return {
    top,
    list: async (): Promise<KeptSnapshot[]> => {
      const names = await namesIn(top);
      const all = await Promise.all(names.map((id) => readKept(folderOf(id), id)));
      return all.filter((one) => one !== undefined);
    },
    /** To be called for each use: what was not used for long is removed. */
    use: async ({ id, commit, isSetUp }: Pick<KeptSnapshot, 'id' | 'commit' | 'isSetUp'>): Promise<Snapshot> => {
      const now = new Date();
      await utimes(path.join(folderOf(id), FACTS), now, now);
      const { tree, setUp, index } = partsOf(folderOf(id));
      return { id, commit, isSetUp, index, lower: isSetUp ? [setUp, tree] : [tree] };
    },
    /** From now on it serves other commits, too. */
    share: async ({ id, ...made }: KeptSnapshot): Promise<void> =>
      writeFacts(folderOf(id), { ...made, isShared: true }),
    /** Takes a finished draft. When another run has made the same one meanwhile, that one stays. */
    keep: async (draft: string, made: SnapshotFacts): Promise<string> => {
      const id = `${made.key.slice(0, 16)}-${made.commit.slice(0, 12)}`;
      await syncTree(draft);
      await writeFacts(draft, made);
      await makeFolder(top, 0o700);
      const isNew = await moved(draft, folderOf(id));
      if (isNew || (await readKept(folderOf(id), id)) !== undefined) return id;
      // Half of one that was being removed.
      await remove(id);
      await rename(draft, folderOf(id));
      return id;
    },
    remove,
    /** Removes what is no snapshot any more. */
    removeRemains: async (): Promise<void> => {
      for (const id of await namesIn(top))
        if ((await readKept(folderOf(id), id)) === undefined) await removeTree(folderOf(id));
    },
  };
}

/** What begins with a dot is ours, and no snapshot. */
async function namesIn(top: string): Promise<string[]> {
  return (await readdir(top).catch((): string[] => [])).filter((name) => !name.startsWith('.'));
}

function writeFacts(folder: string, { key, commit, isSetUp, isShared, bytes }: SnapshotFacts): Promise<void> {
  const text = JSON.stringify({ version: 1, key, commit, isSetUp, isShared, bytes });
  return writeFileAtomic(path.join(folder, FACTS), text, { durable: true });
}

/** Files of the set-up are on the disk before the snapshot has its name. */
async function syncTree(folder: string): Promise<void> {
  // oxlint-disable-next-line node/no-process-env -- the host's own program
  await run('sync', ['-f', '--', folder], { cwd: '/', env: { PATH: process.env['PATH'], LC_ALL: 'C' } });
}

async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) return false;
    throw error;
  }
}

async function readKept(folder: string, id: string): Promise<KeptSnapshot | undefined> {
  if (id.startsWith(GONE)) return undefined;
  const file = path.join(folder, FACTS);
  const [text, usedAt] = await Promise.all([readIfThere(file), modifiedAt(file)]);
  const read = readJson(facts, text?.toString('utf8'));
  return read === undefined ? undefined : { ...read, id, usedAt: usedAt ?? 0 };
}
