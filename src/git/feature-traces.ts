import path from 'node:path';
import { attemptRefs, branchNames, TASK_TRAILER } from '../protocol/index.ts';
import type { Repository } from './repository.ts';

/** What a feature's runs have left in the repository, found by exact names: nothing of the user's is among it. */
export interface FeatureTraces {
  /** Worktrees below the feature's own folders. */
  readonly worktrees: readonly string[];
  /** Branches and attempt refs, whole names. */
  readonly refs: readonly { readonly ref: string; readonly commit: string }[];
  /** Branches of ours that the user has checked out: they stay. */
  readonly checkedOut: readonly { readonly branch: string; readonly folder: string }[];
  /** Commits of the integration branch that no other branch or tag has. */
  readonly unmerged: number;
}

export async function findTraces(
  repository: Repository,
  feature: string,
  folders: readonly string[],
): Promise<FeatureTraces> {
  const names = branchNames(feature);
  const [all, branchRefs, attempts, unmerged] = await Promise.all([
    repository.listWorktrees(),
    repository.listRefs(`refs/heads/${names.prefix}`),
    repository.listRefs(attemptRefs(feature)),
    unmergedCommits(repository, names.integration, names.prefix),
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
  return { worktrees, refs: [...branches.filter(({ ref }) => !kept.has(ref)), ...attempts], checkedOut, unmerged };
}

/** Tasks whose work is only in the integration branch, as the commits there say. */
export async function mergedTasks({ git, readRef }: Repository, feature: string): Promise<string[]> {
  const { integration, prefix } = branchNames(feature);
  const tip = await readRef(`refs/heads/${integration}`);
  if (tip === undefined) return [];
  const format = `--format=%(trailers:key=${TASK_TRAILER},valueonly)`;
  const text = await git.text(['log', '--reverse', format, tip, ...notElsewhere(prefix)]);
  return [...new Set(text.split('\n').filter((id) => id !== ''))];
}

async function unmergedCommits({ git, readRef }: Repository, integration: string, prefix: string): Promise<number> {
  const tip = await readRef(`refs/heads/${integration}`);
  if (tip === undefined) return 0;
  const text = await git.text(['rev-list', '--count', tip, ...notElsewhere(prefix)]);
  return Number(text.trim());
}

/** Leaves out commits that another branch or a tag has. A ref to a missing object counts as empty. */
function notElsewhere(prefix: string): string[] {
  return ['--ignore-missing', '--not', `--exclude=${prefix}*`, '--branches', '--tags', '--remotes', 'HEAD'];
}
