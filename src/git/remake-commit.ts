import { repeated } from '../lib/index.ts';
import { identityEnvironment } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { isVanished } from './repeatable.ts';
import { checkedOutIn } from './checked-out.ts';
import { changeRefs } from './refs.ts';

export interface Remake {
  /** Only its files are taken over. */
  readonly commit: string;
  readonly base: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Keeps the new commit: a `git prune` takes what no ref names. */
  readonly ref: string;
  /** Is moved to the new commit too, unless a working tree has it checked out; null for none. */
  readonly branch: string | null;
}

/**
 * Makes a commit of ours on the base with the same files. Author, dates, encoding, signature and message of the other
 * commit are the worker's choice and must not come into the user's history. Undefined when a `git prune` has taken the files.
 */
export async function remakeCommit(git: GitCommand, commonDir: string, wish: Remake): Promise<string | undefined> {
  try {
    return await repeated(() => remakeOnce(git, commonDir, wish), isVanished);
  } catch (error) {
    if (isVanished(error)) return undefined;
    throw error;
  }
}

async function remakeOnce(git: GitCommand, commonDir: string, wish: Remake): Promise<string> {
  const { commit, base, message, at, ref, branch } = wish;
  const date = `${Math.floor(at / 1000)} +0000`;
  const env = { ...identityEnvironment(), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', `${commit}^{tree}`, '-p', base, '-F', '-'];
  const made = (await git.text(args, { input: message, env })).trim();
  const head = `refs/heads/${branch}`;
  const moves = branch !== null && (await checkedOutIn(git, commonDir, head)) === undefined;
  await changeRefs(
    git,
    [ref, ...(moves ? [head] : [])].map((each) => ({ ref: each, to: made })),
  );
  return made;
}
