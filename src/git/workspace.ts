import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { openFolders } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { bundleHeader } from './bundle-header.ts';
import { entriesOf, gitIn, identityEnvironment } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { addExcept, findLeftovers, leftOut } from './leftovers.ts';
import type { Leftovers, OwnedAmong } from './leftovers.ts';
import { LOCK_FILES, MANIFESTS } from './lock-files.ts';
import { rememberRules } from './private-repair.ts';
import type { PrivateRules } from './private-repair.ts';
import {
  hasReadableIndex,
  isRealFolder,
  repairHead,
  repairIndex,
  newIndex,
  restorePointer,
  unlock,
} from './workspace-repair.ts';
import type { WorkspacePlace } from './workspace-repair.ts';

interface ResetRequest {
  readonly base: string;
  readonly branch: string;
  readonly ignoredToo: boolean;
  readonly keep: readonly string[];
}

interface StageRequest {
  /** The commit at which the task began: what the task has broken is repaired from it. */
  readonly base: string;
  readonly branch: string;
  readonly left: Leftovers;
  readonly owned: OwnedAmong;
  /** Adds each file again, whatever the index says: objects that it names are gone. */
  readonly afresh?: boolean;
}

interface CommitRequest {
  readonly base: string;
  readonly tree: string;
  readonly message: string;
  /** Null where nothing looks at the branch afterwards. */
  readonly branch: string | null;
}

interface BundleRequest {
  readonly branch: string;
  readonly base: string;
  readonly commit: string;
  readonly file: string;
}

/** What is known of a worktree that was opened before, when nothing has run in it since. */
export interface OpenedPlace extends WorkspacePlace {
  /** The trees of commits. */
  readonly trees: ReadonlyMap<string, string>;
}

/** The worktree as its worker uses it; the only place where git runs inside a folder that tasks write. */
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>;

/** `base`: a commit whose tree is asked for later. */
export async function openWorkspace(
  folder: string,
  env: Environment,
  at: { known?: OpenedPlace | undefined; base?: string } = {},
) {
  const place = at.known ?? (await findPlace(folder, env, at.base));
  const rules = await rememberRules(place);
  // These are given, so that git does not look for them: a task may have removed or rewritten `.git`.
  const git = gitIn(folder, env, { ...rules.env, GIT_DIR: place.gitDir, GIT_WORK_TREE: folder });
  const trees = new Map(place.trees);
  /** What the last staging is known to have added. */
  let added: ReadonlySet<string> = new Set();
  return {
    folder,
    place,
    /** Makes it `base` where no program has run before: files that git does not track stay. */
    fill: async (base: string): Promise<void> => void (await git.text(['reset', '--quiet', '--hard', base])),
    /** Makes it exactly `base`. Ignored files stay, unless `ignoredToo`; `keep` names untracked paths that stay as well. */
    reset: (request: ResetRequest): Promise<void> => resetWorkspace(git, place, rules, request),
    /**
     * Makes it `to` where it is exactly `from` and no program of a task has run: only what differs is looked at. Throws
     * when it is not.
     */
    moveTo: async ({ from, to, branch }: { from: string; to: string; branch: string }): Promise<void> => {
      await git.text(['read-tree', '-m', '-u', from, to]);
      await git.text(['update-ref', `refs/heads/${branch}`, to]);
    },
    /** Stages all files and returns the tree; among the leftovers only what is new and owned. */
    stage: async (request: StageRequest): Promise<string> => {
      if (!(await isRealFolder(folder))) throw new Error(`the worktree is gone: there is no folder ${folder} any more`);
      added = new Set(await addAll(git, place, request));
      return (await git.text(['write-tree'])).trim();
    },
    /** Those of the files that exist but are not in the tree, which is the one that was staged last. */
    leftOut: (tree: string, files: readonly string[]): Promise<string[]> => leftOut(git, tree, files, added),
    treeOf: async (commit: string): Promise<string> => {
      const tree = trees.get(commit) ?? (await git.text(['rev-parse', '--verify', `${commit}^{tree}`])).trim();
      trees.set(commit, tree);
      return tree;
    },
    /** One commit on `base`, whatever commits the task made on the way; the branch points to it. */
    commit: (request: CommitRequest): Promise<string> => commitTree(git, request),
    /** Writes what the commit has beyond `base` to a file that another repository can take the branch from. */
    bundle: (request: BundleRequest): Promise<void> => writeBundle(git, request),
    /** Files that git does not track and no ignore rule covers. */
    leftovers: (): Promise<Leftovers> => findLeftovers(git),
    /** All files that git tracks. */
    tracked: async (): Promise<string[]> => entriesOf(await git.text(['ls-files', '-z'])),
    /** Changes when a lock file of a package manager changes; where there is none, when a file does that names packages. */
    lockSignature: async (): Promise<string> =>
      (await listEntries(git, LOCK_FILES)) || (await listEntries(git, MANIFESTS)),
  };
}

function listEntries(git: GitCommand, names: readonly string[]): Promise<string> {
  return git.text(['ls-files', '-s', '--', ...names.map((name) => `:(top,glob)**/${name}`)]);
}

async function resetWorkspace(
  git: GitCommand,
  place: WorkspacePlace,
  rules: PrivateRules,
  request: ResetRequest,
): Promise<void> {
  const reset = async (): Promise<void> => {
    // Settings of a task must not change the files or the commit of the next one.
    await rules.restore();
    await resetAll(git, place, request);
  };
  try {
    await reset();
  } catch {
    // A task may have taken its own user's rights in folders; then nothing in them could be removed.
    for (const closed of [place.folder, place.gitDir]) await openFolders(closed);
    await reset();
  }
}

async function resetAll(
  git: GitCommand,
  place: WorkspacePlace,
  { base, branch, ignoredToo, keep }: ResetRequest,
): Promise<void> {
  await restorePointer(place);
  await unlock(place, branch);
  await repairHead(git, place, branch);
  await repairIndex(git, place);
  await git.text(['reset', '--quiet', '--hard', base]);
  const kept = keep.flatMap((entry) => ['-e', `/${escapePattern(entry)}`]);
  await git.text(['clean', '--quiet', '-ffd', ...(ignoredToo ? ['-x'] : kept)]);
}

/** Stages all. A task may have left a lock, a broken index or no HEAD: after a failure these are repaired and it is tried again. */
async function addAll(
  git: GitCommand,
  place: WorkspacePlace,
  { base, branch, left, owned, afresh = false }: StageRequest,
): Promise<string[]> {
  try {
    if (afresh) await newIndex(git, place, base);
    return await addExcept(git, left, owned);
  } catch {
    await unlock(place, branch);
    await repairHead(git, place, branch);
    if (!(await hasReadableIndex(git))) await newIndex(git, place, base);
    return await addExcept(git, left, owned);
  }
}

async function findPlace(folder: string, env: Environment, base: string | undefined): Promise<OpenedPlace> {
  const pointer = await readFile(path.join(folder, '.git'), 'utf8');
  const asked = ['--git-dir', '--git-common-dir', ...(base === undefined ? [] : [`${base}^{tree}`])];
  const text = await gitIn(folder, env).text(['rev-parse', '--path-format=absolute', ...asked]);
  const [gitDir = '', commonDir = '', tree = ''] = text.split('\n');
  return { folder, pointer, gitDir, commonDir, trees: new Map(base === undefined ? [] : [[base, tree]]) };
}

async function commitTree(git: GitCommand, { tree, base, message, branch }: CommitRequest): Promise<string> {
  const args = ['commit-tree', tree, '-p', base, '-F', '-'];
  const commit = (await git.text(args, { input: message, env: identityEnvironment() })).trim();
  if (branch !== null) await git.text(['update-ref', `refs/heads/${branch}`, commit]);
  return commit;
}

/** As `git bundle create` does it, which needs a ref and one more process. */
async function writeBundle(git: GitCommand, { branch, base, commit, file }: BundleRequest): Promise<void> {
  const draft = `${file}.new`;
  const bundle = await open(draft, 'w');
  try {
    await bundle.write(bundleHeader({ branch, base, commit }));
    const input = `${commit}\n^${base}\n`;
    const args = ['pack-objects', '--revs', '--stdout', '--thin', '--delta-base-offset', '--quiet'];
    await git.text(args, { input, output: bundle.fd });
    // The result that names it must not survive a crash of the machine alone. The folder is written with the result.
    await bundle.sync();
  } finally {
    await bundle.close();
  }
  await rename(draft, file);
}

function escapePattern(entry: string): string {
  return entry.replaceAll(/[\\*?[\]!#]/g, String.raw`\$&`);
}
