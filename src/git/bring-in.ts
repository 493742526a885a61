import { AppError, hasCode } from '../lib/index.ts';
import { gitIn } from './git-command.ts';
import type { Environment } from '../lib/index.ts';
import type { Repository } from './repository.ts';

interface BringIn {
  /** The branch to take from. */
  readonly from: string;
  readonly into: string;
  readonly message: string;
  readonly dryRun: boolean;
  readonly env: Environment;
}

export interface BroughtIn {
  readonly kind: 'merged' | 'already-in' | 'would-merge';
  /** Where `into` is afterwards, or would be. */
  readonly commit: string;
  /** Files that change in `into`. */
  readonly files: readonly string[];
  /** The working tree that moved along. */
  readonly worktree: string | null;
}

/** Merges a branch into one of the user's. The only place where a branch of the user's, or a checkout of it, moves. */
export async function bringIn(repository: Repository, wish: BringIn): Promise<BroughtIn> {
  const tip = await repository.resolve(`refs/heads/${wish.into}`);
  const commit = await repository.resolve(`refs/heads/${wish.from}`);
  if (await isAncestor(repository, commit, tip)) return { kind: 'already-in', commit: tip, files: [], worktree: null };
  const merged = await repository.merge({ tip, commit, message: wish.message, author: await authorOf(repository) });
  if (merged.kind === 'conflict') {
    throw new AppError('MERGE_CONFLICT', { branch: wish.from, into: wish.into, files: merged.files });
  }
  const files = await repository.changedPaths(tip, merged.commit);
  const holder = (await repository.listWorktrees()).find((worktree) => worktree.branch === wish.into);
  const worktree = holder?.folder ?? null;
  if (wish.dryRun) return { kind: 'would-merge', commit: merged.commit, files, worktree };
  if (worktree === null) await repository.moveBranch({ branch: wish.into, from: tip, to: merged.commit });
  else await fastForward(worktree, wish, merged.commit);
  return { kind: 'merged', commit: merged.commit, files, worktree };
}

async function isAncestor({ git }: Repository, older: string, newer: string): Promise<boolean> {
  const { code } = await git.result(['merge-base', '--is-ancestor', older, newer], { answers: [0, 1] });
  return code === 0;
}

/** It is the user's merge, so it has the user's name; only who has none set gets ours. */
async function authorOf({ git }: Repository): Promise<'ours' | 'user'> {
  const { code } = await git.result(['var', 'GIT_COMMITTER_IDENT'], { answers: [0, 1, 128] });
  return code === 0 ? 'user' : 'ours';
}

/** Moves branch, index and files together, or nothing at all when local changes are in the way. */
async function fastForward(worktree: string, { into, env }: BringIn, commit: string): Promise<void> {
  try {
    await gitIn(worktree, env).text(['merge', '--quiet', '--ff-only', commit]);
  } catch (error) {
    if (!hasCode(error, 'GIT_FAILED')) throw error;
    const reason = error.facts.stderr.trim().split('\n').slice(0, 8).join(' ').replaceAll(/\s+/g, ' ');
    throw new AppError('MERGE_DIRTY', { into, worktree, reason }, { cause: error });
  }
}
