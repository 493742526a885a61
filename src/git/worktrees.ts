import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { realPathOf, removeLockDrafts, removeTree, repeated, withLock } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';
import { removeHalves } from './repair-halves.ts';
import { removeHalfRecords, repairRecords } from './repair-records.ts';

const LOCK_WAIT_MS = 120_000;

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

/** Does work while no other process of ours, and nothing else in this one, changes worktrees. */
export type Alone = <Result>(work: () => Promise<Result>) => Promise<Result>;

const worktreesLock = (commonDir: string): string => path.join(commonDir, 'mahabharatha-worktrees.lock');

/**
 * Two `git worktree add` at once fail now and then, in one process or in two. Within this process they queue, because a
 * lock that another process holds is asked for only now and then.
 */
export function oneAtATime(commonDir: string): Alone {
  let queue: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = queue.then(() => withLock(worktreesLock(commonDir), LOCK_WAIT_MS, work));
    queue = mine.catch(() => undefined);
    return mine;
  };
}

export const worktreesOf = (git: GitCommand, commonDir: string, alone: Alone) => ({
  addWorktree: (worktree: NewWorktree) => alone(() => addWorktree(git, commonDir, worktree)),
  removeWorktree: (folder: string) => alone(() => removeWorktree(git, commonDir, folder)),
  /** Removes what a killed git has left of worktrees of ours, of the packed refs and of new objects; returns the names. */
  repairRecords: async (): Promise<string[]> => {
    await removeLockDrafts(worktreesLock(commonDir));
    const records = await alone(() => repairRecords(commonDir));
    return [...records, ...(await removeHalves(commonDir, () => listWorktrees(git)))];
  },
  listWorktrees: () => listWorktrees(git),
});

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
  const recorded = await realPathOf(folder);
  const known = await listWorktrees(git);
  if (known.some((worktree) => worktree.folder === recorded)) {
    await git.text(['worktree', 'remove', '--force', '--force', '--', recorded]);
  }
}

/** A worker that was killed in the middle of a git command leaves it; the caller knows that the worker is gone. */
export async function removeBranchLock(commonDir: string, branch: string): Promise<void> {
  await rm(path.join(commonDir, 'refs', 'heads', `${branch}.lock`), { force: true });
}

async function listWorktrees(git: GitCommand): Promise<Worktree[]> {
  // While another process adds a worktree, its record is half written for a moment, and git then lists none at all.
  const text = await repeated(
    () => git.text(['worktree', 'list', '--porcelain', '-z']),
    () => true,
  );
  return text
    .split('\0\0')
    .map((block) => block.split('\0'))
    .filter((lines) => lines[0]?.startsWith('worktree ') ?? false)
    .map((lines) => ({
      folder: lines[0]?.slice('worktree '.length) ?? '',
      branch: lines.find((line) => line.startsWith('branch refs/heads/'))?.slice('branch refs/heads/'.length),
    }));
}
