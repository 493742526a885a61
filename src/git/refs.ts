import { repeated } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { isPassingFailure } from './repeatable.ts';
import { checkedOutIn } from './checked-out.ts';
import { removeBranchLock } from './worktrees.ts';
import type { Alone } from './worktrees.ts';

export interface RefChange {
  readonly ref: string;
  /** Null removes the ref. */
  readonly to: string | null;
  /** What the ref must be now: an object, or null when it must not exist. Not checked when left out. */
  readonly from?: string | null;
}

interface BranchMove {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

export const refsOf = (git: GitCommand, commonDir: string, alone: Alone) => ({
  /** The commit that a ref names; throws REF_UNKNOWN. */
  resolve: async (ref: string): Promise<string> => {
    const commit = await readRef(git, `${ref}^{commit}`);
    if (commit === undefined) throw gitErrors.REF_UNKNOWN({ ref });
    return commit;
  },
  readRef: (ref: string) => readRef(git, ref),
  /** Refs below a prefix. */
  listRefs: async (prefix: string): Promise<{ ref: string; commit: string }[]> => {
    const text = await git.text(['for-each-ref', '--format=%(refname) %(objectname)', prefix]);
    return linesOf(text).map((line) => {
      const [ref = '', commit = ''] = line.split(' ');
      return { ref, commit };
    });
  },
  changeRefs: async (changes: readonly RefChange[]): Promise<void> => {
    const branches = removedWorkerBranches(changes);
    if (branches.length === 0) return changeRefs(git, changes);
    return alone(async () => {
      await Promise.all(branches.map((branch) => removeBranchLock(commonDir, branch)));
      await changeRefs(git, changes);
    });
  },
  /**
   * Moves a branch that no working tree has checked out. Throws INTEGRATION_MOVED when it is not where it should be, and
   * INTEGRATION_CHECKED_OUT.
   */
  moveBranch: async ({ branch, from, to }: BranchMove): Promise<void> => {
    const ref = `refs/heads/${branch}`;
    await checkNotCheckedOut(git, commonDir, branch);
    try {
      await changeRefs(git, [{ ref, to, from }]);
    } catch (error) {
      if ((await readRef(git, ref)) === from) throw error;
      throw gitErrors.INTEGRATION_MOVED({ branch, expected: from }, { cause: error });
    }
  },
  /** Throws INTEGRATION_CHECKED_OUT when a working tree has the branch. */
  checkNotCheckedOut: (branch: string) => checkNotCheckedOut(git, commonDir, branch),
  /** The checked-out branch; undefined with a detached HEAD. */
  currentBranch: async (): Promise<string | undefined> => {
    const { code, stdout } = await git.result(['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [0, 1] });
    return code === 0 ? stdout.trim() : undefined;
  },
});

/** The caller has ended the workers before, so locks on these branches are left over. */
function removedWorkerBranches(changes: readonly RefChange[]): string[] {
  return changes
    .filter(({ ref, to }) => to === null && /^refs\/heads\/mahabharatha\/[^/]+\/worker-\d+$/.test(ref))
    .map(({ ref }) => ref.slice('refs/heads/'.length));
}

async function checkNotCheckedOut(git: GitCommand, commonDir: string, branch: string): Promise<void> {
  const worktree = await checkedOutIn(git, commonDir, `refs/heads/${branch}`);
  if (worktree !== undefined) throw gitErrors.INTEGRATION_CHECKED_OUT({ branch, worktree });
}

/** Makes all changes or none. After a failure that passes it tries again those that have not been made. */
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
