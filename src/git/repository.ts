import { realpath } from 'node:fs/promises';
import { hasCode } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { blobText } from './blob-text.ts';
import { fetchBundle } from './fetch-bundle.ts';
import type { Bundle } from './fetch-bundle.ts';
import { checkoutGrowth } from './checkout-growth.ts';
import { commitFacts, factsOf } from './commit-facts.ts';
import type { CommitChanges } from './commit-facts.ts';
import { gitErrors } from './errors.ts';
import { gitIn } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { contains, findMergeFault, mergedOnTop, notContained } from './merge-proof.ts';
import type { MergeChain } from './merge-proof.ts';
import { mergeCommits } from './merge.ts';
import type { MergeRequest } from './merge.ts';
import { missingObjects } from './missing-objects.ts';
import { objectFolders } from './object-folders.ts';
import { checkoutSettings } from './private-settings.ts';
import { privateCheckouts } from './private-checkout.ts';
import { readRef, refsOf } from './refs.ts';
import { remakeCommit } from './remake-commit.ts';
import type { Remake } from './remake-commit.ts';
import { removeEmptyObjects } from './repair-objects.ts';
import { isWhole, removeReflogs, repairRefs, wasTip } from './repair-refs.ts';
import { readChanges } from './tree-changes.ts';
import type { Pair } from './tree-changes.ts';
import { checkoutBytes, lockFilesOf } from './lock-files.ts';
import { trackedFiles, uncommitted, untrackedFiles } from './working-tree.ts';
import { oneAtATime, worktreesOf } from './worktrees.ts';

const NEEDED = '2.38';

/** The user's repository, as the orchestrator sees it. Nothing here runs in a folder that a worker can write. */
export type Repository = Awaited<ReturnType<typeof openRepository>>;

/** Throws NO_COMMIT_YET, unless `mayBeEmpty`. */
export async function openRepository(cwd: string, env: Environment, { mayBeEmpty = false } = {}) {
  const here = gitIn(cwd, env);
  await checkVersion(here);
  const { root, commonDir } = await locate(here);
  const git = gitIn(root, env);
  if (!mayBeEmpty && (await readRef(git, 'HEAD^{commit}')) === undefined) throw gitErrors.NO_COMMIT_YET({ path: root });
  const alone = oneAtATime(commonDir);
  return {
    /** Top of the user's working tree. */
    root,
    /** The git directory that all worktrees share. */
    commonDir,
    git,
    ...refsOf(git, commonDir, alone),
    ...worktreesOf(git, commonDir, alone),
    ...commitsOf(git, commonDir),
    ...repairsOf(git, commonDir),
    /** Makes folders for a worker that must not write here, and replaces what was in them. */
    addPrivateCheckout: privateCheckouts(git, commonDir),
    checkoutSettings: () => checkoutSettings(git, commonDir),
    /** The folders of objects: the repository's own and those that it borrows from. */
    objectFolders: () => objectFolders(commonDir),
    /** Name and address that the user's commits have. */
    author: () => authorOf(git),
    /** Files that git tracks at this path and below, in letters of any case. */
    trackedFiles: (path: string) => trackedFiles(git, path),
    /** Files of the user's working tree that are changed, staged or new. */
    uncommitted: () => uncommitted(git),
    /** Files that git does not track and that match one of the globs, as paths from the root. */
    untrackedFiles: (globs: readonly string[]) => untrackedFiles(git, globs),
  };
}

const commitsOf = (git: GitCommand, commonDir: string) => ({
  /** The parents of a commit, and what it changes when it has just one; undefined when there is no such commit. */
  commitFacts: (id: string) => commitFacts(git, id),
  /** The same of a commit whose changes are known. */
  factsOf: (commit: CommitChanges) => factsOf(git, commit),
  /** The text of a file in a commit; undefined when there is none, null when it is no file or too long. */
  textAt: (commit: string, file: string, maxBytes: number) => blobText(git, { commit, file, maxBytes }),
  /** A commit of ours with the files of a worker's. */
  remake: (request: Remake) => remakeCommit(git, commonDir, request),
  /** Takes the commit of a branch out of a worker's bundle; throws BUNDLE_REFUSED when the bundle is malformed or too costly. */
  fetchBundle: (bundle: Bundle) => fetchBundle(git, commonDir, bundle),
  /** Paths that differ between the two commits of each pair; both sides of a rename. */
  changedFiles: (pairs: readonly Pair[]) => readChanges(git, pairs),
  checkoutGrowth: checkoutGrowth(git),
  lockFilesOf: (commit: string) => lockFilesOf(git, commit),
  checkoutBytes: (commit: string) => checkoutBytes(git, commit),
  merge: (request: MergeRequest) => mergeCommits(git, request),
  /** Why a branch may not move along these merges, in words; undefined when they are sound. */
  findMergeFault: (chain: MergeChain) => findMergeFault(git, chain),
  /** Is a commit in the history of the tip? */
  contains: (tip: string, commit: string) => contains(git, tip, commit),
  /** Those of the commits, and of their ancestors, that a tip does not contain. */
  notContained: (tip: string, commits: readonly string[]) => notContained(git, tip, commits),
  /** The commits that were merged on top of `from`, up to `to`; undefined when a commit between them is not a merge. */
  mergedOnTop: (from: string, to: string) => mergedOnTop(git, from, to),
});

const repairsOf = (git: GitCommand, commonDir: string) => ({
  /** Repairs what a crash has left of a feature's refs; those whose commit is known are made again. Returns what was broken. */
  repairRefs: (feature: string, known: ReadonlyMap<string, string>) => repairRefs(git, commonDir, feature, known),
  /** Removes objects that a loss of power has left empty, so that they can be written again; returns their ids. */
  removeEmptyObjects: () => removeEmptyObjects(commonDir),
  wasTip: (branch: string, commit: string) => wasTip(commonDir, branch, commit),
  removeReflogs: (branches: readonly string[]) => removeReflogs(commonDir, branches),
  /** Ids of what is gone of a commit: of what it has beyond the base, and of its own files. */
  missingObjects: (commit: string, base: string) => missingObjects(git, commit, base),
  /** Is everything there that the commits have beyond the base? */
  isWhole: (commits: string | readonly string[], base: string) => isWhole(git, [commits].flat(), base),
});

/** Git guesses both where they are not set. */
async function authorOf(git: GitCommand): Promise<string> {
  const { code, stdout } = await git.result(['var', 'GIT_AUTHOR_IDENT'], { answers: [0, 128] });
  return code === 0 ? stdout.replace(/ \d+ [+-]\d+\s*$/, '').trim() : 'unknown';
}

async function checkVersion(git: GitCommand): Promise<void> {
  const text = await git.text(['version']);
  const [, major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(text) ?? []).map(Number);
  if (major > 2 || (major === 2 && minor >= 38)) return;
  throw gitErrors.GIT_TOO_OLD({ found: text.trim().replace('git version ', ''), needed: NEEDED });
}

async function locate(git: GitCommand): Promise<{ root: string; commonDir: string }> {
  try {
    const text = await git.text(['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir']);
    const [root = '', commonDir = ''] = text.split('\n');
    return { root: await realpath(root), commonDir: await realpath(commonDir) };
  } catch (error) {
    // In a repository of another user, git's own message says what to do.
    if (!hasCode(error, gitErrors.GIT_FAILED) || error.facts.stderr.includes('safe.directory')) throw error;
    throw gitErrors.NOT_A_REPOSITORY({ path: git.cwd }, { cause: error });
  }
}
