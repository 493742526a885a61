import { repeated } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { entriesOf, identityEnvironment } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { findStrays } from './merge-proof.ts';
import { isVanished } from './repeatable.ts';

export interface MergeRequest {
  /** What is merged into: becomes the first parent. */
  readonly tip: string;
  readonly commit: string;
  readonly message: string;
  /**
   * Where the commit starts from. Then the merge may change just what the commit changes, at the same paths: what git
   * moves along with a file that another commit has renamed is a conflict.
   */
  readonly base?: string;
  /** Whose merge it is: ours, or the user's own. */
  readonly author?: 'ours' | 'user';
}

export type MergeResult =
  | { readonly kind: 'merged'; readonly commit: string }
  | { readonly kind: 'conflict'; readonly files: readonly string[] };

type MergePreview =
  | { readonly clean: true; readonly tree: string }
  | { readonly clean: false; readonly files: string[] };

/**
 * Merges two commits in the object store alone: no index, no working tree, no ref is touched. What a `git prune` beside us
 * takes of it while it is made is made again.
 */
export async function mergeCommits(git: GitCommand, request: MergeRequest): Promise<MergeResult> {
  return repeated(() => mergeOnce(git, request), isVanished);
}

async function mergeOnce(git: GitCommand, request: MergeRequest): Promise<MergeResult> {
  const { tip, commit, base } = request;
  const ours = base === undefined ? tip : await standIn(git, tip, base);
  const preview = await previewMerge(git, ours, commit);
  if (!preview.clean) return { kind: 'conflict', files: preview.files };
  const merged = await commitMerge(git, request, preview.tree);
  if (base === undefined) return merged;
  const [strays = []] = await findStrays(git, [{ base, commit, before: tip, after: merged.commit }]);
  return strays.length === 0 ? merged : { kind: 'conflict', files: strays };
}

/**
 * The tree of the tip as a commit on the base. Git looks for the point from which two commits part by reading history,
 * which after thousands of merges takes longer than all the rest; here it is one step away. `merge-tree` has an option for
 * that since 2.40.
 */
async function standIn(git: GitCommand, tip: string, base: string): Promise<string> {
  const args = ['commit-tree', `${tip}^{tree}`, '-p', base, '-m', 'the tip of a merge'];
  return (await git.text(args, { env: identityEnvironment() })).trim();
}

async function previewMerge(git: GitCommand, tip: string, commit: string): Promise<MergePreview> {
  const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', tip, commit];
  const { code, stdout } = await git.result(args, { answers: [0, 1] });
  const [tree, ...files] = entriesOf(stdout);
  // A commit that is not there also ends with 1, but no tree comes out: that is no conflict.
  if (tree === undefined) {
    throw gitErrors.GIT_FAILED({ args, cwd: git.cwd, exit: `exit status ${code}`, stderr: 'nothing to merge' });
  }
  return code === 0 ? { clean: true, tree } : { clean: false, files: [...new Set(files)] };
}

async function commitMerge(
  git: GitCommand,
  request: MergeRequest,
  tree: string,
): Promise<MergeResult & { kind: 'merged' }> {
  const args = ['commit-tree', tree, '-p', request.tip, '-p', request.commit, '-F', '-'];
  const env = request.author === 'user' ? {} : identityEnvironment();
  const commit = (await git.text(args, { input: request.message, env })).trim();
  return { kind: 'merged', commit };
}
