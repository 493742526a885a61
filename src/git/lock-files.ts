import { entriesOf, saidTooMuch } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/** Files that name the installed packages: when a merge changes one, the set-up has to run again. */
export const LOCK_FILES = [
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'poetry.lock',
  'uv.lock',
  'pdm.lock',
  'Pipfile.lock',
  'requirements*.txt',
  'Gemfile.lock',
  'composer.lock',
  'go.sum',
  'mix.lock',
  'pubspec.lock',
  'Package.resolved',
  'gradle.lockfile',
  'packages.lock.json',
  'go.mod',
];

/** What names packages where no lock file does. */
export const MANIFESTS = [
  'package.json',
  'pyproject.toml',
  'setup.py',
  'setup.cfg',
  'environment.yml',
  'pom.xml',
  'build.gradle*',
  'Cargo.toml',
  'Gemfile',
  'composer.json',
  '*requirements*/*.txt',
];

const named = (names: readonly string[]): RegExp =>
  new RegExp(`(^|/)(${names.map((name) => name.replaceAll('.', '[.]').replaceAll('*', '[^/]*')).join('|')})$`);
const LOCKS = named(LOCK_FILES);
const NAMING = named(MANIFESTS);
const ATTRIBUTES = named(['.gitattributes']);

/** Whether `lockFilesOf` may look at a file of this name. */
export function namesPackages(file: string): boolean {
  return [LOCKS, NAMING, ATTRIBUTES].some((names) => names.test(file));
}

/**
 * The lock files of a commit, or where it has none the manifests, and its rules for checkouts, each with mode, id and path;
 * and how many files it has. Of a commit with so many files that git prints too much, the tree, in which any change counts.
 */
export async function lockFilesOf(
  git: GitCommand,
  commit: string,
): Promise<{ readonly lockFiles: readonly string[]; readonly files: number }> {
  const list = await git.text(['ls-tree', '-r', '-z', '--full-tree', commit]).catch((error: unknown) => {
    if (!saidTooMuch(error)) throw error;
  });
  if (list === undefined)
    return { lockFiles: [(await git.text(['rev-parse', '--verify', `${commit}^{tree}`])).trim()], files: Infinity };
  const entries = entriesOf(list);
  const matching = (names: RegExp): string[] =>
    entries.filter((entry) => names.test(entry.slice(entry.indexOf('\t') + 1)));
  const locks = matching(LOCKS);
  const packages = locks.length > 0 ? locks : matching(NAMING);
  // Git writes no file anew when only its attributes change.
  return { lockFiles: [...packages, ...matching(ATTRIBUTES)], files: entries.length };
}

/** The size of all files of a commit. */
export async function checkoutBytes(git: GitCommand, commit: string): Promise<number> {
  const entries = entriesOf(await git.text(['ls-tree', '-r', '-l', '-z', '--full-tree', commit]));
  // A submodule has no size.
  return entries.reduce((sum, entry) => sum + Number(/ (\d+)\t/.exec(entry)?.[1] ?? 0), 0);
}
