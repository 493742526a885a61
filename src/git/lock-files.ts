import { entriesOf } from './git-command.ts';
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
];

const NAMES = new RegExp(
  `(^|/)(${LOCK_FILES.map((name) => name.replaceAll('.', '[.]').replace('*', '[^/]*')).join('|')})$`,
);

/** The lock files of a commit, each with mode, id and path; and how many files the commit has. */
export async function lockFilesOf(
  git: GitCommand,
  commit: string,
): Promise<{ readonly lockFiles: readonly string[]; readonly files: number }> {
  const entries = entriesOf(await git.text(['ls-tree', '-r', '-z', '--full-tree', commit]));
  return {
    lockFiles: entries.filter((entry) => NAMES.test(entry.slice(entry.indexOf('\t') + 1))),
    files: entries.length,
  };
}
