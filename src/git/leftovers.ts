import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { entriesOf, linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/** What the set-up has made in a worktree that git does not track and no ignore rule covers. */
export interface Leftovers {
  /** A folder with no tracked file in it is one path, so these are few. */
  readonly paths: readonly string[];
  /** Each file. */
  readonly files: ReadonlySet<string>;
}

/** Those of the files that the task may write. */
export type OwnedAmong = (files: readonly string[]) => readonly string[];

const UNTRACKED = ['ls-files', '-z', '--others', '--exclude-standard'];

export async function findLeftovers(git: GitCommand): Promise<Leftovers> {
  const paths = entriesOf(await git.text([...UNTRACKED, '--directory', '--no-empty-directory']));
  // When no path is a folder, the paths are the files.
  const files = paths.some((entry) => entry.endsWith('/')) ? entriesOf(await git.text(UNTRACKED)) : paths;
  return { paths, files: new Set(files) };
}

/**
 * Stages everything except the leftovers. A folder of theirs may contain work of the task by now: tracked files, and new
 * files that the task owns, are staged as well. Returns files that were staged, as far as git's output tells.
 */
export async function addExcept(git: GitCommand, left: Leftovers, owned: OwnedAmong): Promise<string[]> {
  const places = left.paths.map((entry) => entry.replace(/\/$/, ''));
  const excluded = places.map((place) => `:(top,exclude,literal)${place}`);
  const said = await git.text(['add', '--all', '--verbose', '--', ...(excluded.length > 0 ? [':/', ...excluded] : [])]);
  const added = linesOf(said).flatMap((line) => /^add '(.+)'$/.exec(line)?.slice(1) ?? []);
  if (places.length === 0) return added;
  const inPlaces = ['--', ...places.map((place) => `:(top,literal)${place}`)];
  const changed = entriesOf(await git.text(['ls-files', '-z', '--modified', ...inPlaces]));
  const others = entriesOf(await git.text([...UNTRACKED, ...inPlaces]));
  const work = [...changed, ...owned(others.filter((file) => !left.files.has(file)))];
  if (work.length === 0) return added;
  const fromInput = ['--literal-pathspecs', 'add', '--all', '--pathspec-from-file=-', '--pathspec-file-nul'];
  await git.text(fromInput, { input: work.join('\0') });
  return added;
}

/** Those of the files that exist but are not in the tree: an ignore rule covers them. `added` are known to be in it. */
export async function leftOut(
  git: GitCommand,
  tree: string,
  files: readonly string[],
  added: ReadonlySet<string>,
): Promise<string[]> {
  const names = files.map((file) => path.normalize(file)).filter((file) => !added.has(file));
  const there = await Promise.all(names.map((name) => isFile(path.join(git.cwd, name))));
  const asked = names.filter((_, index) => there[index]);
  if (asked.length === 0) return [];
  const args = ['--literal-pathspecs', 'ls-tree', '-z', '--full-tree', '--name-only', tree, '--', ...asked];
  const taken = new Set(entriesOf(await git.text(args)));
  return asked.filter((name) => !taken.has(name));
}

/** A link counts as a file. Of a glob there is most likely none. */
async function isFile(file: string): Promise<boolean> {
  const stat = await lstat(file).catch(() => undefined);
  return stat !== undefined && !stat.isDirectory();
}
