import { branchNames } from '../protocol/index.ts';
import { squashOf } from './feature-traces.ts';
import { linesOf } from './git-command.ts';
import type { Repository } from './repository.ts';

/** Branches, of this repository and of remotes, that have all commits of a feature's integration branch, or them squashed. */
export async function branchesWith(repository: Repository, feature: string): Promise<string[]> {
  const { integration } = branchNames(feature);
  const { git } = repository;
  const tip = await repository.readRef(`refs/heads/${integration}`);
  if (tip === undefined) return [];
  const squash = await squashOf(git, tip);
  const found = await Promise.all([tip, ...(squash === undefined ? [] : [squash])].map((commit) => holding(commit)));
  return [...new Set(found.flat())].filter((name) => !/^([^/]+\/)?mahabharatha\//.test(name));

  async function holding(commit: string): Promise<string[]> {
    // A remote's HEAD is one of its branches under another name, and is shown as the name of the remote alone.
    const format = '--format=%(if)%(symref)%(then)%(else)%(refname:short)%(end)';
    const refs = linesOf(
      await git.text(['for-each-ref', format, `--contains=${commit}`, 'refs/heads', 'refs/remotes']),
    );
    return refs.filter((name) => name !== '');
  }
}
