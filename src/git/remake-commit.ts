import { identityEnvironment } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { changeRefs, checkedOutIn } from './refs.ts';

export interface Remake {
  /** Of this one only the files are taken over. */
  readonly commit: string;
  readonly base: string;
  readonly message: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Points to the new one instead, unless a working tree has it checked out; null for none. */
  readonly branch: string | null;
}

/**
 * The same files as a commit of ours on the base. Author, dates, encoding, signature and message of the other one are
 * whatever its maker wrote, and they would stand in the user's history.
 */
export async function remakeCommit(git: GitCommand, { commit, base, message, at, branch }: Remake): Promise<string> {
  const date = `${Math.floor(at / 1000)} +0000`;
  const env = { ...identityEnvironment(), GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  const args = ['-c', 'i18n.commitEncoding=UTF-8', 'commit-tree', `${commit}^{tree}`, '-p', base, '-F', '-'];
  const made = (await git.text(args, { input: message, env })).trim();
  const ref = `refs/heads/${branch}`;
  if (branch !== null && (await checkedOutIn(git, ref)) === undefined) await changeRefs(git, [{ ref, to: made }]);
  return made;
}
