import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/** A branch of the user's, as a remote knows it. */
export interface RemoteBranch {
  readonly remote: string;
  readonly branch: string;
}

/** Where a branch belongs: what git was told, else the only remote, else "origin". Otherwise the names of all remotes. */
export async function remoteOf(git: GitCommand, branch: string): Promise<RemoteBranch | readonly string[]> {
  const [remotes, told, ref] = await Promise.all([
    git.text(['remote']).then(linesOf),
    setting(git, `branch.${branch}.remote`),
    setting(git, `branch.${branch}.merge`),
  ]);
  if (told !== undefined && remotes.includes(told))
    return { remote: told, branch: ref?.replace(/^refs\/heads\//, '') ?? branch };
  const only = remotes.length === 1 ? remotes[0] : remotes.find((name) => name === 'origin');
  return only === undefined ? remotes : { remote: only, branch };
}

async function setting(git: GitCommand, name: string): Promise<string | undefined> {
  const { code, stdout } = await git.result(['config', '--get', name], { answers: [0, 1] });
  return code === 0 ? stdout.trim() : undefined;
}
