import { repeated } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { entriesOf, identityEnvironment } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { findWrongFiles } from './merge-proof.ts';
import { isVanished } from './repeatable.ts';

export interface MergeRequest {
  /** What is merged into: becomes the first parent. */
  readonly tip: string;
  readonly commit: string;
  readonly message: string;
  /**
   * Where the commit starts from. When it is given, the merge may change only the paths that the commit changes: a change
   * that git applies at another path, because another commit has renamed the file, is a conflict.
   */
  readonly base?: string;
  /** The result has all the work in one commit on `tip`, without its history. */
  readonly squash?: boolean;
  /** Whose merge it is: ours, or the user's own. */
  readonly author?: 'ours' | 'user';
}

export type MergeResult =
  | { readonly kind: 'merged'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

/**
 * Merges two commits in the object store alone: no index, working tree or ref is changed. When a `git prune` removes an
 * object of the merge meanwhile, the merge is made again.
 */
export async function mergeCommits(git: GitCommand, request: MergeRequest): Promise<MergeResult> {
  return repeated(() => mergeOnce(git, request), isVanished);
}

async function mergeOnce(git: GitCommand, request: MergeRequest): Promise<MergeResult> {
  const { tip, commit, base } = request;
  const ours = base === undefined ? tip : await tipOnBase(git, tip, base);
  const { tree, conflicts } = await mergeTrees(git, ours, commit);
  if (conflicts.length > 0) return { kind: 'conflict', files: conflicts };
  const merged = await commitMerge(git, request, tree);
  const steps = base === undefined ? [] : [{ base, commit, before: tip, after: merged }];
  const [wrong = []] = await findWrongFiles(git, steps);
  return wrong.length === 0 ? { kind: 'merged', commit: merged } : { kind: 'conflict', files: wrong };
}

/**
 * The tree of the tip as a commit on the base. Git reads history to find the common ancestor of two commits, which after
 * thousands of merges takes longer than the merge; here it is the parent. `merge-tree` has an option for that since 2.40.
 */
async function tipOnBase(git: GitCommand, tip: string, base: string): Promise<string> {
  const args = ['commit-tree', `${tip}^{tree}`, '-p', base, '-m', 'the tip of a merge'];
  return (await git.text(args, { env: identityEnvironment() })).trim();
}

async function mergeTrees(
  git: GitCommand,
  tip: string,
  commit: string,
): Promise<{ tree: string; conflicts: string[] }> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', tip, commit];
  const { code, stdout } = await git.result(args, { answers: [0, 1] });
  const [tree, ...files] = entriesOf(stdout);
  // For a missing commit the exit status is 1 too, as for a conflict, but no tree is printed.
  if (tree === undefined) {
    throw gitErrors.GIT_FAILED({ args, cwd: git.cwd, exit: `exit status ${code}`, stderr: 'nothing to merge' });
  }
  return { tree, conflicts: code === 0 ? [] : [...new Set(files)] };
}

async function commitMerge(git: GitCommand, request: MergeRequest, tree: string): Promise<string> {
  const parents = request.squash === true ? [request.tip] : [request.tip, request.commit];
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  const env = request.author === 'user' ? {} : identityEnvironment();
  return (await git.text(args, { input: request.message, env })).trim();
}
