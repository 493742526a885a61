import { randomBytes } from 'node:crypto';
import { chmod, readdir, rename, utimes } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import {
  makePrivateFolder,
  modifiedAt,
  randomId,
  readIfThere,
  readJson,
  removeDrafts,
  removeLockDrafts,
  removeTree,
  run,
  systemCode,
  withLock,
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
  version: z.literal(2),
  /** The root of the user's repository that it is a checkout of. */
  repository: z.string(),
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
const SECRET = '.secret';
const SECRET_BYTES = 32;
const LOCK = '.lock';
/** It is held for a few renames and reads. */
const LOCK_MS = 30_000;

/** The parts of a snapshot, in a draft or in its place. */
export const partsOf = (folder: string) => ({
  tree: path.join(folder, 'tree'),
  /** What the set-up has changed. */
  setUp: path.join(folder, 'set-up'),
  index: path.join(folder, 'index'),
});

export type SnapshotStore = ReturnType<typeof openSnapshotStore>;

/**
 * Snapshots of all runs of this user. Each has a folder, which appears as a whole. A use and a removal exclude each other,
 * also between processes.
 */
export function openSnapshotStore(top: string) {
  const folderOf = (id: string): string => path.join(top, id);
  const locked: Locked = (work) => withLock(path.join(top, LOCK), LOCK_MS, work);
  return {
    top,
    list: () => listKept(top),
    /** The key of digests over values that could be guessed. It stays on this machine. */
    secret: async (): Promise<string> => {
      await makePrivateFolder(top);
      return locked(() => secretIn(path.join(top, SECRET)));
    },
    /** To be called for each use: what was not used for long is removed. */
    use: ({ id, commit, isSetUp }: Pick<KeptSnapshot, 'id' | 'commit' | 'isSetUp'>): Promise<Snapshot> =>
      locked(async () => {
        const now = new Date();
        await utimes(path.join(folderOf(id), FACTS), now, now);
        const { tree, setUp, index } = partsOf(folderOf(id));
        return { id, commit, isSetUp, index, lower: isSetUp ? [setUp, tree] : [tree] };
      }),
    /** From now on it serves other commits, too. */
    share: (one: KeptSnapshot): Promise<void> => writeFacts(folderOf(one.id), { ...one, isShared: true }),
    keep: (draft: string, made: SnapshotFacts) => keep(top, draft, made),
    remove: (listed: Pick<KeptSnapshot, 'id' | 'usedAt'>) => remove(top, locked, listed),
    /** Removes what is no snapshot any more. */
    removeRemains: async (): Promise<void> => {
      for (const id of await namesIn(top))
        if ((await readKept(folderOf(id), id)) === undefined) await removeTree(folderOf(id));
      await removeDrafts(top);
      await removeLockDrafts(path.join(top, LOCK));
    },
  };
}

type Locked = <Result>(work: () => Promise<Result>) => Promise<Result>;

async function listKept(top: string): Promise<KeptSnapshot[]> {
  const all = await Promise.all((await namesIn(top)).map((id) => readKept(path.join(top, id), id)));
  return all.filter((one) => one !== undefined);
}

/** Takes a finished draft. When another run has made the same one meanwhile, that one stays. */
async function keep(top: string, draft: string, made: SnapshotFacts): Promise<string> {
  const id = `${made.key.slice(0, 16)}-${made.commit.slice(0, 12)}`;
  const folder = path.join(top, id);
  await syncTree(draft);
  await writeFacts(draft, made);
  await chmod(draft, 0o700);
  await makePrivateFolder(top);
  const isNew = await moved(draft, folder);
  if (isNew || (await readKept(folder, id)) !== undefined) return id;
  // Half of one that was being removed.
  const half = await takeAway(top, id);
  await rename(draft, folder);
  await removeTree(half);
  return id;
}

/** False when it was used, or removed, since it was listed. */
async function remove(top: string, locked: Locked, listed: Pick<KeptSnapshot, 'id' | 'usedAt'>): Promise<boolean> {
  const gone = await locked(async () => {
    const now = await readKept(path.join(top, listed.id), listed.id);
    return now?.usedAt === listed.usedAt ? takeAway(top, listed.id) : undefined;
  });
  if (gone !== undefined) await removeTree(gone);
  return gone !== undefined;
}

/** Out of the way at once: what is left of it then is no snapshot, also when its removal is broken off. */
async function takeAway(top: string, id: string): Promise<string> {
  const gone = path.join(top, `${GONE}${randomId()}`);
  await rename(path.join(top, id), gone);
  return gone;
}

async function secretIn(file: string): Promise<string> {
  const known = (await readIfThere(file))?.toString('utf8');
  if (known !== undefined && known.length === SECRET_BYTES * 2) return known;
  const made = randomBytes(SECRET_BYTES).toString('hex');
  await writeFileAtomic(file, made, { durable: true, mode: 0o600 });
  return made;
}

/** What begins with a dot is ours, and no snapshot. */
async function namesIn(top: string): Promise<string[]> {
  return (await readdir(top).catch((): string[] => [])).filter((name) => !name.startsWith('.'));
}

function writeFacts(
  folder: string,
  { key, repository, commit, isSetUp, isShared, bytes }: SnapshotFacts,
): Promise<void> {
  const text = JSON.stringify({ version: 2, key, repository, commit, isSetUp, isShared, bytes });
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
  if (read === undefined) return undefined;
  const { version: _, ...made } = read;
  return { ...made, id, usedAt: usedAt ?? 0 };
}
