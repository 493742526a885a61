import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { hasCode, listed, removeTree, systemCode } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { gitErrors } from './errors.ts';
import { gitIn } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { checkIgnored } from './ignored-files.ts';
import { uncommitted } from './working-tree.ts';

interface FastForward {
  /** Where the branch is checked out. */
  readonly worktree: string;
  readonly branch: string;
  readonly from: string;
  readonly to: string;
  readonly env: Environment;
}

const SHOWN_FILES = 30;
/** With one of these, git begins no merge, whatever it would change. */
const NOT_CONCLUDED = ['MERGE_HEAD', 'CHERRY_PICK_HEAD'];

/** Moves branch, index and files together, or nothing at all when local changes are in the way of `files`, which change. */
export async function fastForward(wish: FastForward, files: readonly string[]): Promise<void> {
  const git = gitIn(wish.worktree, wish.env);
  await orDirty(wish, async () => {
    await checkIgnored(git, wish, files);
    await git.text(['merge', '--quiet', '--ff-only', '--no-overwrite-ignore', wish.to]);
  });
}

/** Throws what `fastForward` would, and changes nothing; `files` are those that would change. */
export async function checkFastForward(wish: FastForward, files: readonly string[]): Promise<void> {
  const git = gitIn(wish.worktree, wish.env);
  await orDirty(wish, async () => {
    await checkIgnored(git, wish, files);
    for (const ref of NOT_CONCLUDED) await checkConcluded(git, wish, ref);
    await withCopiedIndex(git, async (copy) => {
      // git compares times before contents: a file that was only touched is not in the way.
      await git.result(['update-index', '-q', '--refresh'], { answers: [0, 1], env: copy });
      await git.text(['read-tree', '--dry-run', '-m', '-u', wish.from, wish.to], { env: copy }).catch(async (error) => {
        // It names only the first file, and says something else when it is no file.
        const names = await inTheWay(git, files);
        if (names.length === 0) throw error;
        throw dirty(wish, `what would change is changed there, or unknown to git: ${listed(names, SHOWN_FILES)}`);
      });
    });
  });
}

async function checkConcluded(git: GitCommand, wish: FastForward, ref: string): Promise<void> {
  const { code } = await git.result(['rev-parse', '--verify', '--quiet', ref], { answers: [0, 1] });
  if (code === 0) throw dirty(wish, `what was begun there has not been concluded (${ref} exists)`);
}

async function inTheWay(git: GitCommand, files: readonly string[]): Promise<string[]> {
  const local = await uncommitted(git, 'all');
  return local.filter((name) => files.some((file) => touches(name, file)));
}

/** One is the other, or is in a folder of its name. */
const touches = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/** The user's own index is not even locked. */
async function withCopiedIndex(git: GitCommand, work: (env: Environment) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mahabharatha-index-'));
  try {
    const index = await git.text(['rev-parse', '--path-format=absolute', '--git-path', 'index']);
    const copy = path.join(folder, 'index');
    await copyFile(index.replace(/\n$/, ''), copy).catch((error: unknown) => {
      // Nothing has been checked out yet.
      if (systemCode(error) !== 'ENOENT') throw error;
    });
    await work({ GIT_INDEX_FILE: copy });
  } finally {
    await removeTree(folder);
  }
}

async function orDirty(wish: FastForward, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!hasCode(error, gitErrors.GIT_FAILED)) throw error;
    throw dirty(wish, error.facts.stderr.trim().split('\n').slice(0, 8).join(' ').replaceAll(/\s+/g, ' '), error);
  }
}

function dirty({ branch, worktree }: FastForward, reason: string, cause?: Error): AppError {
  return gitErrors.MERGE_DIRTY({ into: branch, worktree, reason }, cause && { cause });
}
