import { lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '../lib/index.ts';
import { gitIn, identityEnvironment } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/** What a broken-off git command of a task leaves in the git directory, and the next task must not see. */
const LEFTOVERS = /^(.*[.]lock|rebase-merge|rebase-apply|sequencer|BISECT_LOG|AUTO_MERGE)$/;

/** Files that say what is installed: when a merge changes one, the set-up has to run again. */
const LOCK_FILES = [
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

export interface CommitRequest {
  readonly base: string;
  readonly tree: string;
  readonly message: string;
  readonly branch: string;
}

/** The worktree as its worker uses it; the only place where git runs inside a folder that tasks write. */
export interface Workspace {
  readonly folder: string;
  /** Makes it exactly `base`. Ignored files stay, unless `ignoredToo`; `keep` names untracked paths that stay as well. */
  reset(options: { base: string; branch: string; ignoredToo: boolean; keep: readonly string[] }): Promise<void>;
  /** Takes everything there is now, but for `except`, and returns it as a tree. */
  stage(except: readonly string[]): Promise<string>;
  treeOf(commit: string): Promise<string>;
  /** One commit on `base`, whatever commits the task made on the way; the branch points to it. */
  commit(request: CommitRequest): Promise<string>;
  /** Untracked paths that no ignore rule covers. */
  untracked(): Promise<string[]>;
  /** Changes when a lock file of a package manager changes. */
  lockSignature(): Promise<string>;
}

export async function openWorkspace(folder: string, env: Environment): Promise<Workspace> {
  const plain = gitIn(folder, env);
  const { gitDir, commonDir } = await locate(plain);
  const pointer = await readFile(path.join(folder, '.git'), 'utf8');
  // Named outright, so that a task that removes or rewrites `.git` does not send our git elsewhere.
  const git = gitIn(folder, env);
  const at: Environment = { GIT_DIR: gitDir, GIT_WORK_TREE: folder };
  const text = (args: readonly string[]): Promise<string> => git.text(args, { env: at });
  let start: { readonly base: string; readonly branch: string } | undefined;
  /** Whoever held a lock is gone: the task has ended, and all that it started. */
  const unlock = async (branch: string): Promise<void> => {
    await removeLeftovers(gitDir);
    await rm(path.join(commonDir, 'refs', 'heads', `${branch}.lock`), { force: true });
    await healHead(path.join(gitDir, 'HEAD'), branch);
  };
  return {
    folder,
    reset: async ({ base, branch, ignoredToo, keep }) => {
      start = { base, branch };
      await restorePointer(folder, pointer);
      await unlock(branch);
      await healIndex(git, at, path.join(gitDir, 'index'));
      await text(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
      await text(['reset', '--quiet', '--hard', base]);
      const kept = keep.flatMap((entry) => ['-e', `/${escapePattern(entry)}`]);
      await text(['clean', '--quiet', '-ffd', ...(ignoredToo ? ['-x'] : kept)]);
    },
    stage: async (except) => {
      if (!(await isRealFolder(folder))) throw new Error(`the worktree is gone: there is no folder ${folder} any more`);
      if (start !== undefined) {
        await unlock(start.branch);
        // Not just empty: files that git tracks although they are ignored would be gone from it.
        if (!(await isReadable(git, at))) {
          await rm(path.join(gitDir, 'index'), { recursive: true, force: true });
          await text(['read-tree', start.base]);
        }
      }
      const excluded = except.map((entry) => `:(top,exclude,literal)${entry.replace(/\/$/, '')}`);
      await text(['add', '--all', '--', ...(excluded.length > 0 ? [':/', ...excluded] : [])]);
      return (await text(['write-tree'])).trim();
    },
    treeOf: async (commit) => (await text(['rev-parse', '--verify', `${commit}^{tree}`])).trim(),
    commit: (request) => commitTree(git, at, request),
    untracked: async () =>
      fields(await text(['ls-files', '-z', '--others', '--exclude-standard', '--directory', '--no-empty-directory'])),
    lockSignature: () => text(['ls-files', '-s', '--', ...LOCK_FILES.map((name) => `:(top,glob)**/${name}`)]),
  };
}

async function locate(git: GitCommand): Promise<{ gitDir: string; commonDir: string }> {
  const text = await git.text(['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir']);
  const [gitDir = '', commonDir = ''] = text.split('\n');
  return { gitDir, commonDir };
}

async function removeLeftovers(gitDir: string): Promise<void> {
  const names = (await readdir(gitDir)).filter((name) => LEFTOVERS.test(name));
  await Promise.all(names.map((name) => rm(path.join(gitDir, name), { recursive: true, force: true })));
}

/** Without a HEAD that reads like one, git takes the folder for no repository at all. */
async function healHead(file: string, branch: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '');
  if (!/^(ref: refs\/\S+|[0-9a-f]{40,64})\s*$/.test(text)) await writeFile(file, `ref: refs/heads/${branch}\n`);
}

async function isReadable(git: GitCommand, at: Environment): Promise<boolean> {
  const { code } = await git.result(['ls-files', '--error-unmatch', '-z', '--', ':/.no-such-file'], {
    env: at,
    answers: [0, 1, 128],
  });
  return code !== 128;
}

/** An index that cannot be read, or that was told to overlook files (a small letter or S), is made anew. */
async function healIndex(git: GitCommand, at: Environment, index: string): Promise<void> {
  const { code, stdout } = await git.result(['ls-files', '-v', '-z'], { env: at, answers: [0, 128] });
  if (code !== 0 || fields(stdout).some((entry) => /^[a-zS] /.test(entry))) await rm(index, { force: true });
}

async function commitTree(git: GitCommand, at: Environment, request: CommitRequest): Promise<string> {
  const args = ['commit-tree', request.tree, '-p', request.base, '-F', '-'];
  const env = { ...at, ...identityEnvironment() };
  const commit = (await git.text(args, { input: request.message, env })).trim();
  await git.text(['update-ref', `refs/heads/${request.branch}`, commit], { env: at });
  return commit;
}

/** A link does not count: what we tidy up in it would be somebody else's. */
async function isRealFolder(folder: string): Promise<boolean> {
  const stat = await lstat(folder).catch(() => undefined);
  return stat?.isDirectory() ?? false;
}

async function restorePointer(folder: string, pointer: string): Promise<void> {
  if (!(await isRealFolder(folder))) await rm(folder, { force: true });
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, '.git');
  const now = await readFile(file, 'utf8').catch(() => undefined);
  if (now === pointer) return;
  await rm(file, { recursive: true, force: true });
  await writeFile(file, pointer);
}

function escapePattern(entry: string): string {
  return entry.replaceAll(/[\\*?[\]!#]/g, String.raw`\$&`);
}

function fields(text: string): string[] {
  return text.split('\0').filter((field) => field !== '');
}
