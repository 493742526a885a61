import { readdir, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  makeFolder,
  modifiedAt,
  readIfThere,
  readJson,
  removeTree,
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
  bytes: z.number(),
});
export type SnapshotFacts = Omit<z.infer<typeof facts>, 'version'>;

export interface KeptSnapshot extends SnapshotFacts {
  readonly id: string;
  /** By the clock of the file system. */
  readonly usedAt: number;
}

const FACTS = 'snapshot.json';

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
  return {
    top,
    list: async (): Promise<KeptSnapshot[]> => {
      const names = await readdir(top).catch((): string[] => []);
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
    /** Takes a finished draft. When another run has made the same one meanwhile, that one stays. */
    keep: async (draft: string, made: SnapshotFacts): Promise<string> => {
      const id = `${made.key.slice(0, 16)}-${made.commit.slice(0, 12)}`;
      await writeFileAtomic(path.join(draft, FACTS), JSON.stringify({ version: 1, ...made }), { durable: true });
      await makeFolder(top, 0o700);
      await rename(draft, folderOf(id)).catch((error: unknown) => {
        if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
      });
      return id;
    },
    /** A snapshot without its facts is no snapshot any more, also when the rest cannot be removed now. */
    remove: async (id: string): Promise<void> => {
      await removeTree(path.join(folderOf(id), FACTS));
      await removeTree(folderOf(id));
    },
  };
}

async function readKept(folder: string, id: string): Promise<KeptSnapshot | undefined> {
  const file = path.join(folder, FACTS);
  const [text, usedAt] = await Promise.all([readIfThere(file), modifiedAt(file)]);
  const read = readJson(facts, text?.toString('utf8'));
  return read === undefined ? undefined : { ...read, id, usedAt: usedAt ?? 0 };
}
