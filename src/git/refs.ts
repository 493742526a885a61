import { repeated } from '../lib/index.ts';
import type { GitCommand } from './git-command.ts';
import { isPassingFailure } from './repeatable.ts';

export interface RefChange {
  readonly ref: string;
  /** Null removes the ref. */
  readonly to: string | null;
  /** What it must be now: an object, null for "must not exist"; left out for "whatever it is". */
  readonly from?: string | null;
}

/** All changes or none. After trouble that passes the rest of them is tried again: some may be made already. */
export async function changeRefs(git: GitCommand, changes: readonly RefChange[]): Promise<void> {
  await repeated(async (attempt) => {
    await updateRefs(git, attempt === 1 ? changes : await notYetMade(git, changes));
  }, isPassingFailure);
}

async function notYetMade(git: GitCommand, changes: readonly RefChange[]): Promise<RefChange[]> {
  const now = await Promise.all(changes.map(({ ref }) => readRef(git, ref)));
  return changes.filter(({ to }, index) => (now[index] ?? null) !== to);
}

async function updateRefs(git: GitCommand, changes: readonly RefChange[]): Promise<void> {
  if (changes.length === 0) return;
  const lines = changes.map(({ ref, to, from }) => {
    if (to === null) return `delete ${ref}\0${from ?? ''}\0`;
    return from === null ? `create ${ref}\0${to}\0` : `update ${ref}\0${to}\0${from ?? ''}\0`;
  });
  await git.text(['update-ref', '-z', '--stdin'], { input: lines.join('') });
}

export async function readRef(git: GitCommand, ref: string): Promise<string | undefined> {
  const { code, stdout } = await git.result(['rev-parse', '--verify', '--quiet', '--end-of-options', ref], {
    answers: [0, 1, 128],
  });
  return code === 0 ? stdout.trim() : undefined;
}

/** The working tree that has this branch checked out. */
export async function checkedOutIn(git: GitCommand, ref: string): Promise<string | undefined> {
  const folder = (await git.text(['for-each-ref', '--format=%(worktreepath)', ref])).replace(/\n$/, '');
  return folder === '' ? undefined : folder;
}

/** Refs below a prefix, as name and object. */
export async function listRefs(git: GitCommand, prefix: string): Promise<{ ref: string; commit: string }[]> {
  const text = await git.text(['for-each-ref', '--format=%(refname) %(objectname)', prefix]);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [ref = '', commit = ''] = line.split(' ');
      return { ref, commit };
    });
}
