import type { Environment } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { checkFastForward, fastForward } from './fast-forward.ts';
import type { Repository } from './repository.ts';

interface CombineRequest {
  /** The branch to take from. */
  readonly from: string;
  readonly into: string;
  /** `commit`: where `from` is. */
  readonly message: (commit: string) => string;
  readonly squash: boolean;
}

interface MergeIntoRequest extends CombineRequest {
  readonly dryRun: boolean;
  readonly env: Environment;
}

export interface MergedInto {
  readonly kind: 'merged' | 'already-in' | 'would-merge';
  /** Where `into` was before. */
  readonly before: string;
  /** Where `into` is afterwards, or would be. */
  readonly commit: string;
  /** Files that change in `into`. */
  readonly files: readonly string[];
  /** The working tree that moved along. */
  readonly worktree: string | null;
}

/** Merges a branch into one of the user's. Only here a branch of the user's moves, and a checkout of it. */
export async function mergeInto(repository: Repository, request: MergeIntoRequest): Promise<MergedInto> {
  const combined = await combine(repository, request);
  const { kind, before, commit, files } = combined;
  if (kind === 'already-in') return combined;
  const holder = (await repository.listWorktrees()).find((worktree) => worktree.branch === request.into);
  const worktree = holder?.folder ?? null;
  const move = { branch: request.into, from: before, to: commit };
  const there = worktree === null ? null : { ...move, worktree, env: request.env };
  if (request.dryRun) {
    if (there !== null) await checkFastForward(there, files);
    return { ...combined, worktree };
  }
  if (there === null) await repository.moveBranch(move);
  else {
    await fastForward(there, files);
    await checkMoved(repository, there);
  }
  return { ...combined, kind: 'merged', worktree };
}

/** The user may switch branches just before the merge, or make a commit on top of it just after. */
async function checkMoved(
  repository: Repository,
  { branch, to, worktree }: { readonly branch: string; readonly to: string; readonly worktree: string },
): Promise<void> {
  if (await isAncestor(repository, to, `refs/heads/${branch}`)) return;
  throw gitErrors.MERGE_NOT_IN_BRANCH({ into: branch, worktree });
}

/** The same in the object store alone: no branch and no checkout is looked at but for its commit. Throws MERGE_CONFLICT. */
export async function combine(repository: Repository, request: CombineRequest): Promise<MergedInto> {
  const { squash } = request;
  const tip = await repository.resolve(`refs/heads/${request.into}`);
  const commit = await repository.resolve(`refs/heads/${request.from}`);
  const alreadyIn = { kind: 'already-in', before: tip, commit: tip, files: [], worktree: null } as const;
  if (await isAncestor(repository, commit, tip)) return alreadyIn;
  const message = request.message(commit);
  const merged = await repository.merge({ tip, commit, message, squash, author: await authorOf(repository) });
  if (merged.kind === 'conflict') {
    throw gitErrors.MERGE_CONFLICT({ branch: request.from, into: request.into, files: merged.files });
  }
  const [changes] = await repository.changedFiles([{ from: tip, to: merged.commit }]);
  const files = [...(changes?.keys() ?? [])];
  // What was squashed before is in no history.
  if (squash && files.length === 0) return alreadyIn;
  return { kind: 'would-merge', before: tip, commit: merged.commit, files, worktree: null };
}

async function isAncestor({ git }: Repository, older: string, newer: string): Promise<boolean> {
  const { code } = await git.result(['merge-base', '--is-ancestor', older, newer], { answers: [0, 1] });
  return code === 0;
}

/** The user's merge has the user's name, or ours when git knows none. */
async function authorOf({ git }: Repository): Promise<'ours' | 'user'> {
  const { code } = await git.result(['var', 'GIT_COMMITTER_IDENT'], { answers: [0, 1, 128] });
  return code === 0 ? 'user' : 'ours';
}
