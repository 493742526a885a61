import path from 'node:path';
import { attemptRefs, branchNames, FEATURE_TRAILER, TASK_TRAILER, TIP_TRAILER } from '../protocol/index.ts';
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
  /** Commits of its work that no other branch or tag has, neither as they are nor squashed. */
  readonly unmerged: number;
}

/** All branches and tags but those of runs, in git's words. A branch that was pushed for a pull request is one of those. */
export const OTHER_BRANCHES: readonly string[] = [
  '--exclude=mahabharatha/*',
  '--branches',
  '--tags',
  '--exclude=*/mahabharatha/*',
  '--remotes',
];

/** `recorded`: where the integration branch is, as the state has it; left out when there is no state that can be read. */
export async function findTraces(
  repository: Repository,
  feature: string,
  folders: readonly string[],
  recorded?: string,
): Promise<FeatureTraces> {
  const names = branchNames(feature);
  const [all, branchRefs, attempts] = await Promise.all([
    repository.listWorktrees(),
    repository.listRefs(`refs/heads/${names.prefix}`),
    repository.listRefs(attemptRefs(feature)),
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
  const tip = branches.find(({ ref }) => ref === `refs/heads/${names.integration}`)?.commit ?? recorded;
  const commits = [...branches, ...attempts].map(({ commit }) => commit);
  const unmerged = await countUnmerged(repository, { tip, commits, isRecorded: recorded !== undefined });
  return { worktrees, refs, checkedOut, unmerged };
}

interface Work {
  /** Of the integration branch. */
  readonly tip: string | undefined;
  /** Of all refs of the feature. */
  readonly commits: readonly string[];
  readonly isRecorded: boolean;
}

/** Where the state or the tip is gone, the work that is needed is not known: then all refs of the feature count. */
async function countUnmerged({ git, readRef }: Repository, { tip, commits, isRecorded }: Work): Promise<number> {
  const isGone = tip !== undefined && (await readRef(`${tip}^{commit}`)) === undefined;
  const tips = tip === undefined || isGone || !isRecorded ? commits : [tip];
  const own = (await countOwn(git, tips)) + (isGone ? 1 : 0);
  if (own === 0 || tip === undefined || (await squashOf(git, tip)) === undefined) return own;
  return isRecorded ? 0 : countOwn(git, tips, [tip]);
}

/** How many commits these have that neither another branch has nor the `known` ones. */
async function countOwn(git: GitCommand, tips: readonly string[], known: readonly string[] = []): Promise<number> {
  if (tips.length === 0) return 0;
  // A ref to a missing object counts as empty.
  const args = ['rev-list', '--count', '--ignore-missing', ...tips, '--not', ...known, ...OTHER_BRANCHES];
  const { code, stdout } = await git.result(args, { answers: [0, 128] });
  // Where a commit of the history is gone, git cannot count: then each ref counts as one.
  return code === 0 ? Number(stdout) : tips.length;
}

/** Tasks of the feature whose work is only in the integration branch, as the commits there say. */
export async function mergedTasks({ git, readRef }: Repository, feature: string): Promise<string[]> {
  const tip = await readRef(`refs/heads/${branchNames(feature).integration}`);
  if (tip === undefined) return [];
  // The branch may have begun at that of another feature, whose tasks can have the same ids.
  const format = `--format=%(trailers:key=${FEATURE_TRAILER},valueonly,separator=%x20)%x09%(trailers:key=${TASK_TRAILER},valueonly,separator=%x20)`;
  const lines = linesOf(
    await git.text(['log', '--reverse', format, tip, '--ignore-missing', '--not', ...OTHER_BRANCHES]),
  );
  const tasks = lines
    .map((line) => line.split('\t'))
    .flatMap(([of, task = '']) => (of === feature && task !== '' ? [task] : []));
  return tasks.length > 0 && (await squashOf(git, tip)) !== undefined ? [] : [...new Set(tasks)];
}

/** The commit of the other branches that says that it has the work of this one, squashed. */
export async function squashOf(git: GitCommand, tip: string): Promise<string | undefined> {
  const wanted = ['--fixed-strings', `--grep=${TIP_TRAILER}: ${tip}`, '--max-count=1', '--format=%H'];
  return linesOf(await git.text(['log', ...wanted, '--ignore-missing', ...OTHER_BRANCHES, `^${tip}`]))[0];
}
