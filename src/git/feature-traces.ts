import path from 'node:path';
import { attemptRefs, branchNames, TASK_TRAILER, TIP_TRAILER } from '../protocol/index.ts';
import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import type { Repository } from './repository.ts';

/** What a feature's runs have left in the repository, found by exact names: nothing of the user's is among it. */
export interface FeatureTraces {
  /** Worktrees below the feature's own folders. */
  readonly worktrees: readonly string[];
  /** Branches and attempt refs, whole names. */
  readonly refs: readonly { readonly ref: string; readonly commit: string }[];
  /** Branches of ours that the user has checked out: they stay. */
  readonly checkedOut: readonly { readonly branch: string; readonly folder: string }[];
  /** Commits of the integration branch that no other branch or tag has, neither as they are nor squashed. */
  readonly unmerged: number;
}

export async function findTraces(
  repository: Repository,
  feature: string,
  folders: readonly string[],
): Promise<FeatureTraces> {
  const names = branchNames(feature);
  const [all, branchRefs, attempts, commits] = await Promise.all([
    repository.listWorktrees(),
    repository.listRefs(`refs/heads/${names.prefix}`),
    repository.listRefs(attemptRefs(feature)),
    ownCommits(repository, feature, ['rev-list']),
  ]);
  const isOurs = (worktree: string): boolean => folders.some((folder) => worktree.startsWith(folder + path.sep));
  const worktrees = all.map(({ folder }) => folder).filter(isOurs);
  const ours = (branch: string): boolean =>
    branch === names.integration || /^worker-\d+$/.test(branch.slice(names.prefix.length));
  const branches = branchRefs.filter(({ ref }) => ours(ref.slice('refs/heads/'.length)));
  const checkedOut = all.flatMap(({ branch, folder }) =>
    branch !== undefined && !worktrees.includes(folder) && branches.some(({ ref }) => ref === `refs/heads/${branch}`)
      ? [{ branch, folder }]
      : [],
  );
  const kept = new Set(checkedOut.map(({ branch }) => `refs/heads/${branch}`));
  const refs = [...branches.filter(({ ref }) => !kept.has(ref)), ...attempts];
  return { worktrees, refs, checkedOut, unmerged: commits.length };
}

/** Tasks whose work is only in the integration branch, as the commits there say. */
export async function mergedTasks(repository: Repository, feature: string): Promise<string[]> {
  const format = `--format=%(trailers:key=${TASK_TRAILER},valueonly)`;
  return [...new Set(await ownCommits(repository, feature, ['log', '--reverse', format]))];
}

/** What the command prints for the commits of the integration branch that no other branch or tag has, line by line. */
async function ownCommits(repository: Repository, feature: string, command: readonly string[]): Promise<string[]> {
  const { integration, prefix } = branchNames(feature);
  const { git } = repository;
  const tip = await repository.readRef(`refs/heads/${integration}`);
  if (tip === undefined) return [];
  const others = await otherBranches(repository, prefix);
  // A ref to a missing object counts as empty.
  const own = linesOf(await git.text([...command, tip, '--ignore-missing', '--not', ...others]));
  return own.length > 0 && (await squashOf(git, tip, others)) !== undefined ? [] : own;
}

/** What names, for git, all branches and tags but the branches with this prefix. */
export async function otherBranches({ currentBranch }: Repository, prefix: string): Promise<string[]> {
  const head = (await currentBranch())?.startsWith(prefix) === true ? [] : ['HEAD'];
  // A branch that was pushed for a pull request is no other branch.
  return [`--exclude=${prefix}*`, '--branches', '--tags', `--exclude=*/${prefix}*`, '--remotes', ...head];
}

/** The commit of the other branches that says that it has the work of this one, squashed. */
export async function squashOf(git: GitCommand, tip: string, others: readonly string[]): Promise<string | undefined> {
  const wanted = ['--fixed-strings', `--grep=${TIP_TRAILER}: ${tip}`, '--max-count=1', '--format=%H'];
  return linesOf(await git.text(['log', ...wanted, '--ignore-missing', ...others, `^${tip}`]))[0];
}
