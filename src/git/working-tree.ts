import { entriesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/** Our own folders, which no glob of the user's is meant for. */
const OURS = ['state', 'logs', 'worktrees', 'git'].map((name) => `:(top,exclude).mahabharatha/${name}`);

interface LocalChange {
  readonly file: string;
  readonly isUntracked: boolean;
}

export async function uncommitted(git: GitCommand): Promise<string[]> {
  return (await localChanges(git, 'normal')).map(({ file }) => file);
}

/** `all`: each untracked file, and not the folder that has nothing else. */
export async function localChanges(git: GitCommand, how: 'normal' | 'all'): Promise<LocalChange[]> {
  const text = await git.text(['status', '--porcelain', '-z', '--no-renames', `--untracked-files=${how}`]);
  // Two letters and a blank stand before each name.
  return entriesOf(text).map((entry) => ({ file: entry.slice(3), isUntracked: entry.startsWith('??') }));
}

export async function trackedFiles(git: GitCommand, path: string): Promise<string[]> {
  return entriesOf(await git.text(['ls-files', '-z', '--', `:(top,icase,literal)${path}`]));
}

export async function untrackedFiles(git: GitCommand, globs: readonly string[]): Promise<string[]> {
  if (globs.length === 0) return [];
  const wanted = globs.map((glob) => `:(top,glob)${glob.replace(/\/$/, '/**')}`);
  return entriesOf(await git.text(['ls-files', '-z', '--others', '--', ...wanted, ...OURS]));
}
