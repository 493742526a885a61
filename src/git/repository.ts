import { realpath } from 'node:fs/promises';
import { hasCode, withLock } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { bringHome } from './bring-home.ts';
import type { Bundle } from './bring-home.ts';
import { gitErrors } from './errors.ts';
import { gitIn } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { changeRefs, checkedOutIn, listRefs, readRef } from './refs.ts';
import type { RefChange } from './refs.ts';
import { objectFolders } from './object-folders.ts';
import { privateCheckouts } from './private-checkout.ts';
import type { NewPrivateCheckout } from './private-checkout.ts';
import { checkoutGrowth, growthOf } from './checkout-growth.ts';
import type { CheckoutGrowth, Growth } from './checkout-growth.ts';
import { GITLINK, rawChanges } from './raw-changes.ts';
import { mergeCommits } from './merge.ts';
import { findMergeFault, mergedOnTop, notContained } from './merge-proof.ts';
import type { MergeChain } from './merge-proof.ts';
import type { MergeRequest, MergeResult } from './merge.ts';
import { removeEmptyObjects } from './repair-objects.ts';
import { isWhole, repairRefs } from './repair-refs.ts';
import { remakeCommit } from './remake-commit.ts';
import type { Remake } from './remake-commit.ts';
import { readChanges } from './tree-changes.ts';
import type { Changes, Pair } from './tree-changes.ts';
import { removeBranchLock, worktreesLock, worktreesOf } from './worktrees.ts';
import type { NewWorktree, Worktree } from './worktrees.ts';

const NEEDED = '2.38';
const WORKTREE_LOCK_WAIT_MS = 120_000;

/** The user's repository, as the orchestrator sees it. Nothing here runs in a folder that a worker can write. */
export interface Repository {
  /** Top of the user's working tree. */
  readonly root: string;
  /** The git directory that all worktrees share. */
  readonly commonDir: string;
  readonly git: GitCommand;
  /** The commit that a ref names; throws REF_UNKNOWN. */
  resolve(ref: string): Promise<string>;
  readRef(ref: string): Promise<string | undefined>;
  listRefs(prefix: string): Promise<{ ref: string; commit: string }[]>;
  changeRefs(changes: readonly RefChange[]): Promise<void>;
  /** Mends what a crash has left of a feature's refs; those whose commit is known are made again. Returns what was broken. */
  repairRefs(feature: string, known: ReadonlyMap<string, string>): Promise<string[]>;
  /** Is everything there that the commit has beyond its base? */
  isWhole(commit: string, base: string): Promise<boolean>;
  /**
   * Moves a branch that no working tree has checked out. Throws INTEGRATION_MOVED when it is not where it should be, and
   * INTEGRATION_CHECKED_OUT.
   */
  moveBranch(move: BranchMove): Promise<void>;
  /** Throws INTEGRATION_CHECKED_OUT when a working tree has the branch. */
  checkNotCheckedOut(branch: string): Promise<void>;
  /** The parents of a commit, and what it changes when it has just one; undefined when there is no such commit. */
  commitFacts(id: string): Promise<CommitFacts | undefined>;
  /** A commit of ours with the files of a worker's. */
  remake(wish: Remake): Promise<string>;
  addWorktree(worktree: NewWorktree): Promise<void>;
  removeWorktree(folder: string): Promise<void>;
  /** Removes what a killed git has left of worktrees of ours and of the packed refs; returns the names. */
  repairRecords(): Promise<string[]>;
  /** Removes objects that a loss of power has left empty, so that they can be written again; returns their ids. */
  removeEmptyObjects(): Promise<string[]>;
  /** Folders for a worker that must not write here; what stood in them before is replaced. */
  addPrivateCheckout(checkout: NewPrivateCheckout): Promise<void>;
  /** Where objects are read from: the repository's own folder and those it borrows from. */
  objectFolders(): Promise<string[]>;
  /** Takes a branch out of a worker's bundle; throws BUNDLE_REFUSED when something in it is not as it should be. */
  bringHome(bundle: Bundle): Promise<string>;
  listWorktrees(): Promise<Worktree[]>;
  /** Paths that differ between two commits; both sides of a rename. */
  changedPaths(from: string, to: string): Promise<string[]>;
  /** The same of many pairs of commits, in one git process. */
  changedFiles(pairs: readonly Pair[]): Promise<readonly Changes[]>;
  readonly checkoutGrowth: CheckoutGrowth;
  merge(request: MergeRequest): Promise<MergeResult>;
  /** Why a branch may not move along these merges, in words; undefined when they are sound. */
  findMergeFault(chain: MergeChain): Promise<string | undefined>;
  /** Those of the commits, and of their ancestors, that a tip does not contain. */
  notContained(tip: string, commits: readonly string[]): Promise<ReadonlySet<string>>;
  /** The commits that merges on top of `from` have brought, up to `to`; undefined where there is anything but merges. */
  mergedOnTop(from: string, to: string): Promise<string[] | undefined>;
  /** Files of the user's working tree that are changed, staged or new. */
  uncommitted(): Promise<string[]>;
  /** Files that git does not track and that match one of the globs, as paths from the root. */
  untrackedFiles(globs: readonly string[]): Promise<string[]>;
  /** The checked-out branch; undefined with a detached HEAD. */
  currentBranch(): Promise<string | undefined>;
}

interface CommitFacts {
  readonly parents: readonly string[];
  /** Both sides of a rename. */
  readonly changed: readonly string[];
  /** Folders that have become git repositories of their own: of these only the name of a commit is there, and no file. */
  readonly embedded: readonly string[];
  /** Of a checkout, against that of its parent. */
  readonly growth: Growth;
}

interface BranchMove {
  readonly branch: string;
  readonly from: string;
  readonly to: string;
}

export async function openRepository(cwd: string, env: Environment): Promise<Repository> {
  const here = gitIn(cwd, env);
  await checkVersion(here);
  const { root, commonDir } = await locate(here);
  const git = gitIn(root, env);
  if ((await readRef(git, 'HEAD^{commit}')) === undefined) throw gitErrors.NO_COMMIT_YET({ path: root });
  // Two `git worktree add` at once fail now and then, in one process or in two: one at a time.
  // Within this process they queue; the lock is for other processes, and is asked for now and then.
  let queue: Promise<unknown> = Promise.resolve();
  const alone = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const mine = queue.then(() => withLock(worktreesLock(commonDir), WORKTREE_LOCK_WAIT_MS, work));
    queue = mine.catch(() => undefined);
    return mine;
  };
  return {
    root,
    commonDir,
    git,
    resolve: (ref) => resolve(git, ref),
    readRef: (ref) => readRef(git, ref),
    listRefs: (prefix) => listRefs(git, prefix),
    changeRefs: async (changes) => {
      const branches = removedWorkerBranches(changes);
      if (branches.length === 0) return changeRefs(git, changes);
      return alone(async () => {
        await Promise.all(branches.map((branch) => removeBranchLock(commonDir, branch)));
        await changeRefs(git, changes);
      });
    },
    ...repairsOf(git, commonDir),
    moveBranch: (move) => moveBranch(git, move),
    checkNotCheckedOut: (branch) => checkNotCheckedOut(git, branch),
    commitFacts: (id) => commitFacts(git, id),
    remake: (wish) => remakeCommit(git, wish),
    ...worktreesOf(git, commonDir, alone),
    addPrivateCheckout: privateCheckouts(git, commonDir),
    objectFolders: () => objectFolders(commonDir),
    bringHome: (bundle) => bringHome(git, commonDir, bundle),
    changedFiles: (pairs) => readChanges(git, pairs),
    changedPaths: async (from, to) =>
      // A .gitmodules file may ask to overlook a submodule: ownership is checked here, so nothing is overlooked.
      fields(
        await git.text(['diff-tree', '-r', '-z', '--no-renames', '--ignore-submodules=none', '--name-only', from, to]),
      ),
    checkoutGrowth: checkoutGrowth(git),
    merge: (request) => mergeCommits(git, request),
    findMergeFault: (chain) => findMergeFault(git, chain),
    notContained: (tip, commits) => notContained(git, tip, commits),
    mergedOnTop: (from, to) => mergedOnTop(git, from, to),
    uncommitted: async () =>
      fields(await git.text(['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal'])).map((entry) =>
        entry.slice(3),
      ),
    untrackedFiles: (globs) => untrackedFiles(git, globs),
    currentBranch: async () => {
      const { code, stdout } = await git.result(['symbolic-ref', '--quiet', '--short', 'HEAD'], { answers: [0, 1] });
      return code === 0 ? stdout.trim() : undefined;
    },
  };
}

type Repairs = Pick<Repository, 'repairRefs' | 'removeEmptyObjects' | 'isWhole'>;

const repairsOf = (git: GitCommand, commonDir: string): Repairs => ({
  repairRefs: (feature, known) => repairRefs(git, commonDir, feature, known),
  removeEmptyObjects: () => removeEmptyObjects(commonDir),
  isWhole: (commit, base) => isWhole(git, commit, base),
});

/** The caller has ended the worker before: a lock on its branch has no holder. */
function removedWorkerBranches(changes: readonly RefChange[]): string[] {
  return changes
    .filter(({ ref, to }) => to === null && /^refs\/heads\/mahabharatha\/[^/]+\/worker-\d+$/.test(ref))
    .map(({ ref }) => ref.slice('refs/heads/'.length));
}

async function checkVersion(git: GitCommand): Promise<void> {
  const text = await git.text(['version']);
  const match = /(\d+)\.(\d+)/.exec(text);
  const [major, minor] = [Number(match?.[1] ?? 0), Number(match?.[2] ?? 0)];
  if (major < 2 || (major === 2 && minor < 38)) {
    throw gitErrors.GIT_TOO_OLD({ found: text.trim().replace('git version ', ''), needed: NEEDED });
  }
}

async function locate(git: GitCommand): Promise<{ root: string; commonDir: string }> {
  try {
    const text = await git.text(['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir']);
    const [root = '', commonDir = ''] = text.split('\n');
    return { root: await realpath(root), commonDir: await realpath(commonDir) };
  } catch (error) {
    // A repository of another user is one: git says what to do about it.
    if (!hasCode(error, gitErrors.GIT_FAILED) || error.facts.stderr.includes('safe.directory')) throw error;
    throw gitErrors.NOT_A_REPOSITORY({ path: git.cwd }, { cause: error });
  }
}

async function untrackedFiles(git: GitCommand, globs: readonly string[]): Promise<string[]> {
  if (globs.length === 0) return [];
  const wanted = globs.map((glob) => `:(top,glob)${glob.replace(/\/$/, '/**')}`);
  const own = ['.mahabharatha/state', '.mahabharatha/logs', '.mahabharatha/worktrees', '.mahabharatha/git'].map(
    (folder) => `:(top,exclude)${folder}`,
  );
  return fields(await git.text(['ls-files', '-z', '--others', '--', ...wanted, ...own]));
}

async function moveBranch(git: GitCommand, { branch, from, to }: BranchMove): Promise<void> {
  const ref = `refs/heads/${branch}`;
  await checkNotCheckedOut(git, branch);
  try {
    await changeRefs(git, [{ ref, to, from }]);
  } catch (error) {
    if ((await readRef(git, ref)) === from) throw error;
    throw gitErrors.INTEGRATION_MOVED({ branch, expected: from }, { cause: error });
  }
}

async function checkNotCheckedOut(git: GitCommand, branch: string): Promise<void> {
  const worktree = await checkedOutIn(git, `refs/heads/${branch}`);
  if (worktree !== undefined) throw gitErrors.INTEGRATION_CHECKED_OUT({ branch, worktree });
}

async function commitFacts(git: GitCommand, id: string): Promise<CommitFacts | undefined> {
  const how = ['-r', '-z', '--root', '--always', '--no-renames', '--ignore-submodules=none', '--raw'];
  const { code, stdout } = await git.result(['diff-tree', ...how, '--format=%P', `${id}^{commit}`], {
    answers: [0, 128],
  });
  if (code !== 0) return undefined;
  const [parents = '', ...fields] = stdout.split('\0');
  const changes = rawChanges(fields);
  return {
    parents: parents.split(' ').filter((parent) => parent !== ''),
    changed: changes.map(({ path }) => path),
    embedded: changes.flatMap(({ path, before, after }) =>
      after?.mode === GITLINK && before?.mode !== GITLINK ? [path] : [],
    ),
    growth: await growthOf(git, changes),
  };
}

async function resolve(git: GitCommand, ref: string): Promise<string> {
  const commit = await readRef(git, `${ref}^{commit}`);
  if (commit === undefined) throw gitErrors.REF_UNKNOWN({ ref });
  return commit;
}

function fields(text: string): string[] {
  return text.split('\0').filter((field) => field !== '');
}
