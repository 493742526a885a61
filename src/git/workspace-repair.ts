import { lstat, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { GitCommand } from './git-command.ts';
import { removeBranchLock } from './worktrees.ts';

/** Where a worktree is, and what its `.git` file said when we came. */
export interface WorkspacePlace {
  readonly folder: string;
  readonly gitDir: string;
  readonly commonDir: string;
  readonly pointer: string;
}

/** What a broken-off git command of a task leaves in the git directory, and the next one must not see. */
const LEFTOVERS = /^(.*[.]lock|rebase-merge|rebase-apply|sequencer|BISECT_LOG|AUTO_MERGE)$/;

/** The holder of a lock is gone: the task has ended, and all that it started. */
export async function unlock({ gitDir, commonDir }: WorkspacePlace, branch: string): Promise<void> {
  const names = (await readdir(gitDir)).filter((name) => LEFTOVERS.test(name));
  await Promise.all(names.map((name) => rm(path.join(gitDir, name), { recursive: true, force: true })));
  await removeBranchLock(commonDir, branch);
}

/** Whatever the task has checked out: HEAD is our branch. Without a HEAD git takes the folder for no repository at all. */
export async function mendHead(git: GitCommand, place: WorkspacePlace, branch: string): Promise<void> {
  const file = path.join(place.gitDir, 'HEAD');
  const wanted = `ref: refs/heads/${branch}\n`;
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text === wanted) return;
  if (!/^(ref: refs\/\S+|[0-9a-f]{40,64})\s*$/.test(text)) await writeFile(file, wanted);
  await git.text(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
}

/** An index that cannot be read, or that was told to overlook files (a small letter or S), goes: git makes it anew. */
export async function mendIndex(git: GitCommand, { gitDir }: WorkspacePlace): Promise<void> {
  const { code, stdout } = await git.result(['ls-files', '-v', '-z'], { answers: [0, 128] });
  const overlooks = stdout.split('\0').some((entry) => /^[a-zS] /.test(entry));
  if (code !== 0 || overlooks) await rm(path.join(gitDir, 'index'), { recursive: true, force: true });
}

export async function hasReadableIndex(git: GitCommand): Promise<boolean> {
  const { code } = await git.result(['ls-files', '-z', '--', ':/.no-such-file'], { answers: [0, 128] });
  return code === 0;
}

/** Not just empty: files that git tracks although they are ignored would be gone from it. */
export async function newIndex(git: GitCommand, { gitDir }: WorkspacePlace, base: string): Promise<void> {
  await rm(path.join(gitDir, 'index'), { recursive: true, force: true });
  await git.text(['read-tree', base]);
}

/** Makes the folder a worktree again, whatever a task has put in the place of it or of its `.git` file. */
export async function restorePointer({ folder, pointer }: WorkspacePlace): Promise<void> {
  if (!(await isRealFolder(folder))) await rm(folder, { force: true });
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, '.git');
  const now = await readFile(file, 'utf8').catch(() => undefined);
  if (now === pointer) return;
  await rm(file, { recursive: true, force: true });
  await writeFile(file, pointer);
}

/** A link does not count: what we tidied up in it would be another's. */
export async function isRealFolder(folder: string): Promise<boolean> {
  const stat = await lstat(folder).catch(() => undefined);
  return stat?.isDirectory() ?? false;
}
