import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { repeated } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';

/** What HEAD is in a repository that keeps its refs in another way than as files. */
const NO_BRANCH = 'refs/heads/.invalid';

/** The working tree that has the ref's branch checked out. */
export async function checkedOutIn(git: GitCommand, commonDir: string, ref: string): Promise<string | undefined> {
  if (isSurelyNowhere(commonDir, ref)) return undefined;
  // Git reads the records of all worktrees: one that another process adds or removes is half there for a moment.
  const text = await repeated(
    () => git.text(['for-each-ref', '--format=%(worktreepath)', ref]),
    () => true,
  );
  const folder = text.replace(/\n$/, '');
  return folder === '' ? undefined : folder;
}

/** This is asked for each result of a worker, so the HEADs of all working trees are read without git. False when git must say it. */
function isSurelyNowhere(commonDir: string, ref: string): boolean {
  const records = path.join(commonDir, 'worktrees');
  try {
    const names = existsSync(records) ? readdirSync(records) : [];
    return [commonDir, ...names.map((name) => path.join(records, name))].every((folder) => {
      const branch = branchOf(path.join(folder, 'HEAD'));
      if (branch !== null && leadsOn(path.join(commonDir, branch))) return false;
      return branch !== ref && branch !== NO_BRANCH;
    });
  } catch {
    return false;
  }
}

/** The branch in a HEAD; null when it is detached. Throws for a link, which old gits made, and for what git must read. */
function branchOf(head: string): string | null {
  if (!lstatSync(head).isFile()) throw new Error(`${head} is no file`);
  const [, branch, commit] =
    /^(?:ref: (refs\/heads\/\S+)|([0-9a-f]{40,64}))\s*$/.exec(readFileSync(head, 'utf8')) ?? [];
  if (branch === undefined && commit === undefined) throw new Error(`${head} names no branch and no commit`);
  return branch ?? null;
}

/** Is the ref a name for another one? Such a ref is never packed. */
function leadsOn(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found !== undefined && (!found.isFile() || readFileSync(file, 'utf8').startsWith('ref:'));
}
