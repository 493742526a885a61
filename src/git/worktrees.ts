import { rm } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, realPathOf, removeLockDrafts, removeTree, repeated, withLock } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';
import { removeHalves } from './repair-halves.ts';
import { LOCK_REASON, removeHalfRecords, repairRecords } from './repair-records.ts';

const LOCK_WAIT_MS = 120_000;

export interface NewWorktree {
  readonly folder: string;
  readonly branch: string;
  /** The commit to start from. */
  readonly base: string;
}

export interface Worktree {
  readonly folder: string;
  readonly branch: string | undefined;
}

/** Does work while nothing else of ours, in this process or another, changes worktrees. */
export type Alone = <Result>(work: () => Promise<Result>) => Promise<Result>;

const worktreesLock = (commonDir: string): string => path.join(commonDir, 'mahabharatha-worktrees.lock');

/**
 * Two `git worktree add` at the same time sometimes fail. A lock keeps other processes out; within this process there is a
 * queue, because waiting for the lock is slow: it is polled.
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
  removeWorktrees: (folders: readonly string[]) => alone(() => removeWorktrees(git, commonDir, folders)),
  /** Removes what a killed git has left of worktrees of ours, of the packed refs and of new objects; returns the names. */
  repairRecords: async (): Promise<string[]> => {
    await removeLockDrafts(worktreesLock(commonDir));
    const records = await alone(() => repairRecords(commonDir));
    return [...records, ...(await removeHalves(commonDir, () => listWorktrees(git)))];
  },
  listWorktrees: () => listWorktrees(git),
});

/** Adds a locked worktree on a branch of its own, and replaces what was in the folder before. */
async function addWorktree(git: GitCommand, commonDir: string, worktree: NewWorktree): Promise<void> {
  await removeWorktrees(git, commonDir, [worktree.folder]);
  await removeBranchLock(commonDir, worktree.branch);
  await makeFolder(path.dirname(worktree.folder));
  const name = ['--lock', '--reason', LOCK_REASON, '--no-track', '-B', worktree.branch];
  await git.text(['worktree', 'add', '--quiet', ...name, '--', worktree.folder, worktree.base]);
}

/** Removes each folder before git's record of it: then git does not look into a folder that a worker could write. */
async function removeWorktrees(git: GitCommand, commonDir: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) await removeTree(folder);
  // While there is half a record, git neither lists worktrees nor removes one.
  await removeHalfRecords(commonDir);
  const known = new Set((await listWorktrees(git)).map(({ folder }) => folder));
  for (const folder of folders) {
    const recorded = await realPathOf(folder);
    if (known.has(recorded)) await git.text(['worktree', 'remove', '--force', '--force', '--', recorded]);
  }
}

/** Removes the lock that a git command of a killed worker may have left. The caller knows that the worker has ended. */
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
