import { mkdir, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { removeLockDrafts, removeTree, sleep } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';
import { repairPackedRefs } from './repair-packed-refs.ts';
import { removeHalfRecords, repairRecords } from './repair-records.ts';

const LOOKS = 10;
const LOOK_AGAIN_MS = 50;

export interface NewWorktree {
  readonly folder: string;
  readonly branch: string;
  /** The commit to start from, never "whatever is checked out". */
  readonly base: string;
}

export interface Worktree {
  readonly folder: string;
  readonly branch: string | undefined;
}

/** One change of worktrees at a time, in all processes of ours. */
export const worktreesLock = (commonDir: string): string => path.join(commonDir, 'mahabharatha-worktrees.lock');

interface Worktrees {
  addWorktree(worktree: NewWorktree): Promise<void>;
  removeWorktree(folder: string): Promise<void>;
  repairRecords(): Promise<string[]>;
  listWorktrees(): Promise<Worktree[]>;
}

/** `alone` does one change of them at a time, in all processes of ours. */
export function worktreesOf(
  git: GitCommand,
  commonDir: string,
  alone: <Result>(work: () => Promise<Result>) => Promise<Result>,
): Worktrees {
  const folders = async (): Promise<string[]> => (await listWorktrees(git)).map(({ folder }) => folder);
  return {
    addWorktree: (worktree) => alone(() => addWorktree(git, commonDir, worktree)),
    removeWorktree: (folder) => alone(() => removeWorktree(git, commonDir, folder)),
    repairRecords: async () => {
      await removeLockDrafts(worktreesLock(commonDir));
      const records = await alone(() => repairRecords(commonDir));
      return [...records, ...(await repairPackedRefs(commonDir, folders))];
    },
    listWorktrees: () => listWorktrees(git),
  };
}

/** A locked worktree on a branch of its own; what stood in the folder before is replaced. Call it one at a time. */
async function addWorktree(git: GitCommand, commonDir: string, worktree: NewWorktree): Promise<void> {
  await removeWorktree(git, commonDir, worktree.folder);
  await removeBranchLock(commonDir, worktree.branch);
  await mkdir(path.dirname(worktree.folder), { recursive: true });
  const name = ['--lock', '--reason', 'a Mahabharatha worker uses it', '--no-track', '-B', worktree.branch];
  await git.text(['worktree', 'add', '--quiet', ...name, '--', worktree.folder, worktree.base]);
}

/**
 * Removes the folder first and git's record of it after: git then has no reason to look into a folder that a worker
 * could write. Neither being there is fine.
 */
async function removeWorktree(git: GitCommand, commonDir: string, folder: string): Promise<void> {
  await removeTree(folder);
  // With half a record beside it git would neither list nor remove this one.
  await removeHalfRecords(commonDir);
  const recorded = await withoutLinks(folder);
  const known = await listWorktrees(git);
  if (known.some((worktree) => worktree.folder === recorded)) {
    await git.text(['worktree', 'remove', '--force', '--force', '--', recorded]);
  }
}

/** A worker that was killed in the middle of a git command leaves it; the caller knows that the worker is gone. */
export async function removeBranchLock(commonDir: string, branch: string): Promise<void> {
  await rm(path.join(commonDir, 'refs', 'heads', `${branch}.lock`), { force: true });
}

/** git records a worktree by its real path; the folder itself is gone. */
async function withoutLinks(folder: string): Promise<string> {
  const parent = path.dirname(folder);
  return path.join(await realpath(parent).catch(() => parent), path.basename(folder));
}

/** While another process adds a worktree its record is half written for a moment, and git then lists none at all. */
async function readList(git: GitCommand): Promise<string> {
  for (let look = 1; ; look += 1) {
    try {
      return await git.text(['worktree', 'list', '--porcelain', '-z']);
    } catch (error) {
      if (look === LOOKS) throw error;
      await sleep(LOOK_AGAIN_MS);
    }
  }
}

export async function listWorktrees(git: GitCommand): Promise<Worktree[]> {
  const text = await readList(git);
  return text
    .split('\0\0')
    .map((block) => block.split('\0'))
    .filter((lines) => lines[0]?.startsWith('worktree ') ?? false)
    .map((lines) => ({
      folder: lines[0]?.slice('worktree '.length) ?? '',
      branch: lines.find((line) => line.startsWith('branch refs/heads/'))?.slice('branch refs/heads/'.length),
    }));
}
