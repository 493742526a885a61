import { lstat, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';
import { removeBranchLock } from './worktrees.ts';

/** Where a worktree is, and the content of its `.git` file before any task. */
export interface WorkspacePlace {
  readonly folder: string;
  readonly gitDir: string;
  readonly commonDir: string;
  readonly pointer: string;
}

/** What an interrupted git command of a task leaves in the git directory; it would stop or mislead the next command. */
const LEFTOVERS = /^(.*[.]lock|rebase-merge|rebase-apply|sequencer|BISECT_LOG|AUTO_MERGE)$/;

/** No lock has a holder: the task has ended, and all that it started. */
export async function unlock({ gitDir, commonDir }: WorkspacePlace, branch: string): Promise<void> {
  const names = (await readdir(gitDir)).filter((name) => LEFTOVERS.test(name));
  await Promise.all(names.map((name) => rm(path.join(gitDir, name), { recursive: true, force: true })));
  await removeBranchLock(commonDir, branch);
}

/** Makes HEAD our branch, whatever the task has checked out. Without a HEAD git does not accept the folder as a repository. */
export async function repairHead(git: GitCommand, place: WorkspacePlace, branch: string): Promise<void> {
  const file = path.join(place.gitDir, 'HEAD');
  const wanted = `ref: refs/heads/${branch}\n`;
  const text = await readFile(file, 'utf8').catch(() => '');
  if (text === wanted) return;
  if (!/^(ref: refs\/\S+|[0-9a-f]{40,64})\s*$/.test(text)) await writeFile(file, wanted);
  await git.text(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
}

/** Removes an index that is broken, or in which files are marked to be ignored (a small letter or S): git makes a new one. */
export async function repairIndex(git: GitCommand, { gitDir }: WorkspacePlace): Promise<void> {
  const { code, stdout } = await git.result(['ls-files', '-v', '-z'], { answers: [0, 128] });
  const overlooks = stdout.split('\0').some((entry) => /^[a-zS] /.test(entry));
  if (code !== 0 || overlooks) await rm(path.join(gitDir, 'index'), { recursive: true, force: true });
}

export async function hasReadableIndex(git: GitCommand): Promise<boolean> {
  const { code } = await git.result(['ls-files', '-z', '--', ':/.no-such-file'], { answers: [0, 128] });
  return code === 0;
}

/** A new index is filled from the base: from an empty one, files that are tracked although they are ignored would be lost. */
export async function newIndex(git: GitCommand, { gitDir }: WorkspacePlace, base: string): Promise<void> {
  await rm(path.join(gitDir, 'index'), { recursive: true, force: true });
  await git.text(['read-tree', base]);
}

/** Makes the folder a worktree again, when a task has replaced it or its `.git` file. */
export async function restorePointer({ folder, pointer }: WorkspacePlace): Promise<void> {
  if (!(await isRealFolder(folder))) await rm(folder, { force: true });
  await makeFolder(folder);
  const file = path.join(folder, '.git');
  const now = await readFile(file, 'utf8').catch(() => undefined);
  if (now === pointer) return;
  await rm(file, { recursive: true, force: true });
  await writeFile(file, pointer);
}

/** A link does not count: it may lead to a folder of the user's, in which nothing may be removed. */
export async function isRealFolder(folder: string): Promise<boolean> {
  const stat = await lstat(folder).catch(() => undefined);
  return stat?.isDirectory() ?? false;
}
