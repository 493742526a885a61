import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { tempFolder } from './temp-folder.ts';

export interface TempRepository {
  readonly folder: string;
  /** An environment in which git has only the test's own configuration. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs git in the repository and returns its output without the last line end. */
  git(...args: readonly string[]): string;
  /** The same in another folder. */
  gitIn(folder: string, ...args: readonly string[]): string;
  write(file: string, text: string): void;
  /** Writes the files and commits all there is; returns the commit. */
  commit(files: Readonly<Record<string, string>>): string;
}

/** A repository with one commit, in a folder whose name has characters that are special for shells and git. */
export function tempRepository(options: { format?: 'sha1' | 'sha256'; bare?: boolean } = {}): TempRepository {
  const top = tempFolder();
  const env = { ...gitEnvironment(path.join(top, 'home')), GIT_DEFAULT_HASH: options.format ?? 'sha1' };
  const folder = path.join(top, 'my prøject ü');
  mkdirSync(folder);
  const repository = repositoryAt(folder, env);
  repository.git('init', '--quiet', '--initial-branch=main', ...(options.bare === true ? ['--bare'] : []));
  if (options.bare === true) return repository;
  repository.write('.git/info/exclude', '.mahabharatha\n');
  repository.commit({ 'README.md': 'first\n' });
  return repository;
}

export function repositoryAt(folder: string, env: Readonly<Record<string, string>>): TempRepository {
  const gitIn = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd, env, encoding: 'utf8', stdio: 'pipe' }).replace(/\n$/, '');
  const write = (file: string, text: string): void => writeFile(path.join(folder, file), text);
  const git = (...args: readonly string[]): string => gitIn(folder, ...args);
  return {
    folder,
    env,
    git,
    gitIn,
    write,
    commit: (files) => {
      for (const [file, text] of Object.entries(files)) write(file, text);
      git('add', '--all');
      git('commit', '--quiet', '--allow-empty', '--message', `Write ${Object.keys(files).join(', ')}`);
      return git('rev-parse', 'HEAD');
    },
  };
}

export function gitEnvironment(home: string): Record<string, string> {
  const config = path.join(home, '.gitconfig');
  writeFile(config, '[user]\n\tname = A User\n\temail = user@example.com\n[protocol "file"]\n\tallow = always\n');
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GIT_CONFIG_GLOBAL: config,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
  };
}

/** Writes a file and makes its folders. */
export function writeFile(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Every file below a folder, with a digest of its content: equal results mean that nothing was changed. */
export function fingerprint(folder: string, skip: (file: string) => boolean = () => false): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => !skip(file));
  return Object.fromEntries(files.toSorted().map((file) => [file, describeFile(path.join(folder, file))]));
}

function describeFile(file: string): string {
  const stat = lstatSync(file);
  if (stat.isSymbolicLink()) return `-> ${readlinkSync(file)}`;
  if (!stat.isFile()) return 'not a file';
  return `${stat.mode.toString(8)} ${createHash('sha256').update(readFileSync(file)).digest('hex')}`;
}
