import { growthOf, sizesOf } from './checkout-growth.ts';
import type { Growth } from './checkout-growth.ts';
import type { GitCommand } from './git-command.ts';
import { GITLINK, RAW_CHANGES, rawChanges, SYMLINK } from './raw-changes.ts';
import type { RawChange } from './raw-changes.ts';

const MOST_NAME_BYTES = 255;
const MOST_PATH_BYTES = 4095;

/** A commit, and what it changes. */
export interface CommitChanges {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly changes: readonly RawChange[];
}

interface CommitFacts {
  readonly parents: readonly string[];
  /** Both sides of a rename. */
  readonly changed: readonly string[];
  /** Folders that have become git repositories of their own: the commit has the id of their commit, and none of their files. */
  readonly embedded: readonly string[];
  /** New paths that no file system of Linux takes. */
  readonly tooLong: readonly string[];
  /** Of its checkout, compared with its parent's. */
  readonly growth: Growth;
}

export async function commitFacts(git: GitCommand, id: string): Promise<CommitFacts | undefined> {
  const { code, stdout } = await git.result(commitChangesCommand(`${id}^{commit}`), { answers: [0, 128] });
  return code === 0 ? factsOf(git, readCommitChanges(stdout)) : undefined;
}

/** `git diff-tree` of one commit; of a tag, the commit that it leads to. */
export function commitChangesCommand(commit: string): string[] {
  return ['diff-tree', ...RAW_CHANGES, '--root', '--always', '--format=%H %P', commit];
}

/** Reads what that prints. */
export function readCommitChanges(stdout: string): CommitChanges {
  const [ids = '', ...fields] = stdout.split('\0');
  const [commit = '', ...parents] = ids.split(' ').filter((id) => id !== '');
  return { commit, parents, changes: rawChanges(fields) };
}

export async function factsOf(git: GitCommand, { parents, changes }: CommitChanges): Promise<CommitFacts> {
  const embedded = changes.filter(({ before, after }) => after?.mode === GITLINK && before?.mode !== GITLINK);
  return {
    parents,
    changed: changes.map(({ path }) => path),
    embedded: embedded.map(({ path }) => path),
    tooLong: await tooLong(git, changes),
    growth: await growthOf(git, changes),
  };
}

/** Names, paths, and what symbolic links point to. */
async function tooLong(git: GitCommand, changes: readonly RawChange[]): Promise<readonly string[]> {
  const added = changes.filter(({ after }) => after !== null);
  const links = added.filter(({ after }) => after?.mode === SYMLINK);
  const sizes = await sizesOf(
    git,
    links.map(({ after }) => after),
  );
  const long = added.filter(
    ({ path, after }) => isTooLong(path) || (after?.mode === SYMLINK && (sizes.get(after.id) ?? 0) > MOST_PATH_BYTES),
  );
  return long.map(({ path }) => path);
}

/** A byte that is no UTF-8 was read as one character of three bytes. */
function isTooLong(path: string): boolean {
  const bytes = Buffer.from(path.replaceAll('\uFFFD', '?'));
  return (
    bytes.length > MOST_PATH_BYTES ||
    bytes
      .toString('latin1')
      .split('/')
      .some((name) => name.length > MOST_NAME_BYTES)
  );
}
