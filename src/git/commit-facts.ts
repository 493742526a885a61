import { growthOf } from './checkout-growth.ts';
import type { Growth } from './checkout-growth.ts';
import type { GitCommand } from './git-command.ts';
import { GITLINK, RAW_CHANGES, rawChanges } from './raw-changes.ts';

interface CommitFacts {
  readonly parents: readonly string[];
  /** Both sides of a rename. */
  readonly changed: readonly string[];
  /** Folders that have become git repositories of their own: the commit has the id of their commit, and none of their files. */
  readonly embedded: readonly string[];
  /** Of its checkout, compared with its parent's. */
  readonly growth: Growth;
}

export async function commitFacts(git: GitCommand, id: string): Promise<CommitFacts | undefined> {
  const args = ['diff-tree', ...RAW_CHANGES, '--root', '--always', '--format=%P', `${id}^{commit}`];
  const { code, stdout } = await git.result(args, { answers: [0, 128] });
  if (code !== 0) return undefined;
  const [parents = '', ...fields] = stdout.split('\0');
  const changes = rawChanges(fields);
  const embedded = changes.filter(({ before, after }) => after?.mode === GITLINK && before?.mode !== GITLINK);
  return {
    parents: parents.split(' ').filter((parent) => parent !== ''),
    changed: changes.map(({ path }) => path),
    embedded: embedded.map(({ path }) => path),
    growth: await growthOf(git, changes),
  };
}
