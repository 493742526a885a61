import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasCode, inOneLine, listed, removeTree, systemCode } from '../lib/index.ts';
import type { AppError, Environment } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { gitIn } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { checkIgnored } from './ignored-files.ts';
import { readRef } from './refs.ts';
import { localChanges } from './working-tree.ts';

interface FastForward {
  /** Where the branch is checked out. */
  readonly worktree: string;
  readonly branch: string;
  readonly from: string;
  readonly to: string;
  readonly env: Environment;
}

const SHOWN_FILES = 30;
/** While one of these exists, git begins no merge. */
const UNFINISHED = ['MERGE_HEAD', 'CHERRY_PICK_HEAD'];

/** Moves branch, index and files together. Moves nothing when a local change is among the `files` that change. */
export async function fastForward(request: FastForward, files: readonly string[]): Promise<void> {
  const git = gitIn(request.worktree, request.env);
  await orDirty(request, async () => {
    await checkBegin(git, request, files);
    await git
      .text(['merge', '--quiet', '--ff-only', '--no-overwrite-ignore', request.to])
      .catch((error: unknown) => nameFiles(git, request, files, error));
  });
}

/** Throws what `fastForward` would throw, and changes nothing. */
export async function checkFastForward(request: FastForward, files: readonly string[]): Promise<void> {
  const git = gitIn(request.worktree, request.env);
  await orDirty(request, async () => {
    await checkBegin(git, request, files);
    await withCopiedIndex(git, async (copy) => {
      // Git compares times before contents; without this, a file that was only touched would count as changed.
      await git.result(['update-index', '-q', '--refresh'], { answers: [0, 1], env: copy });
      await git
        .text(['read-tree', '--dry-run', '-m', '-u', request.from, request.to], { env: copy })
        .catch((error: unknown) => nameFiles(git, request, files, error));
    });
  });
}

async function checkBegin(git: GitCommand, request: FastForward, files: readonly string[]): Promise<void> {
  await checkIgnored(git, request, files);
  for (const ref of UNFINISHED)
    if ((await readRef(git, ref)) !== undefined)
      throw dirty(request, `a merge or cherry-pick there is not finished (${ref} exists)`);
  await checkCheckedOut(git, request);
}

/** Git moves what is checked out, whichever branch that is by now. */
async function checkCheckedOut(git: GitCommand, { branch: into, worktree }: FastForward): Promise<void> {
  const { stdout } = await git.result(['symbolic-ref', '--quiet', 'HEAD'], { answers: [0, 1] });
  if (stdout.trim() !== `refs/heads/${into}`) throw gitErrors.MERGE_NOT_THERE({ into, worktree });
}

/** Git names only the first file, and gives another reason when it is a folder. Throws the error when none is in the way. */
async function nameFiles(
  git: GitCommand,
  request: FastForward,
  files: readonly string[],
  error: unknown,
): Promise<never> {
  const found = (await localChanges(git, 'all')).filter(({ file }) => files.some((other) => touches(file, other)));
  const [untracked, changed] = [true, false].map((wanted) =>
    found.flatMap(({ file, isUntracked }) => (isUntracked === wanted ? [file] : [])),
  );
  const reasons = [
    ...inWords('files that git does not know yet would be overwritten', untracked),
    ...inWords('local changes would be overwritten in', changed),
  ];
  throw reasons.length === 0 ? error : dirty(request, reasons.join('; '));
}

const inWords = (what: string, names: readonly string[] = []): string[] =>
  names.length === 0 ? [] : [`${what}: ${listed(names, SHOWN_FILES)}`];

/** They are the same path, or one is in the other. */
const touches = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/** The user's own index is not used, so it is not locked either. */
async function withCopiedIndex(git: GitCommand, work: (env: Environment) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mahabharatha-index-'));
  try {
    const index = await git.text(['rev-parse', '--path-format=absolute', '--git-path', 'index']);
    const copy = path.join(folder, 'index');
    await copyFile(index.replace(/\n$/, ''), copy).catch((error: unknown) => {
      // There is no index before the first checkout.
      if (systemCode(error) !== 'ENOENT') throw error;
    });
    await work({ GIT_INDEX_FILE: copy });
  } finally {
    await removeTree(folder);
  }
}

async function orDirty(request: FastForward, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, gitErrors.GIT_FAILED)) throw error;
    throw dirty(request, inOneLine(error.facts.stderr.trim().split('\n').slice(0, 8).join(' ')), error);
  }
}

function dirty({ branch, worktree }: FastForward, reason: string, cause?: Error): AppError {
  return gitErrors.MERGE_DIRTY({ into: branch, worktree, reason }, cause && { cause });
}
