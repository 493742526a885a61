import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder, readIfThere, removeTree } from '../lib/index.ts';
import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';
import { settingsFor } from './private-settings.ts';
import type { PrivateSettings } from './private-settings.ts';

/** A checkout for a worker that must not write the user's repository: an empty folder, and a git directory of its own. */
export interface NewPrivateCheckout {
  readonly folder: string;
  readonly gitDir: string;
  readonly branch: string;
  readonly base: string;
  /** A copy of this file becomes git's index; null for none, when nothing is checked out. */
  readonly index: string | null;
  /** The paths inside the worker's container. */
  readonly inside: { readonly worktree: string; readonly gitDir: string; readonly objects: readonly string[] };
}

/**
 * Makes such checkouts. The user's settings are read once, and their refs once for workers that start together: each
 * reading is a process.
 */
export function privateCheckouts(git: GitCommand, commonDir: string): (checkout: NewPrivateCheckout) => Promise<void> {
  const known = new Map<string, Promise<PrivateSettings>>();
  let reading: Promise<string> | undefined;
  const refs = (): Promise<string> => {
    reading ??= packedRefs(git).finally(() => (reading = undefined));
    return reading;
  };
  return async (checkout) => {
    const { worktree, gitDir } = checkout.inside;
    const key = JSON.stringify([worktree, gitDir]);
    const settings = known.get(key) ?? settingsFor(git, commonDir, { worktree, gitDir });
    known.set(key, settings);
    settings.catch(() => known.delete(key));
    await addPrivateCheckout(commonDir, { settings: await settings, refs }, checkout);
  };
}

/**
 * Writes a git directory in git's own format: the host never runs git in these folders, and a worker starts sooner than
 * with a clone. The worker checks the files out.
 */
async function addPrivateCheckout(
  commonDir: string,
  { settings, refs }: { readonly settings: PrivateSettings; readonly refs: () => Promise<string> },
  { folder, gitDir, branch, base, index, inside }: NewPrivateCheckout,
): Promise<void> {
  for (const made of [folder, gitDir]) await removeTree(made);
  // Where history ends, in a shallow clone.
  const shallow = await readIfThere(path.join(commonDir, 'shallow'));
  const files: Record<string, string | Buffer> = {
    HEAD: `ref: refs/heads/${branch}\n`,
    'packed-refs': await refs(),
    [`refs/heads/${branch}`]: `${base}\n`,
    'objects/info/alternates': inside.objects.map((one) => `${one}\n`).join(''),
    ...settings,
    ...(shallow === undefined ? {} : { shallow }),
  };
  await makeFolder(path.join(gitDir, 'objects', 'pack'));
  for (const [name, text] of Object.entries(files)) {
    await makeFolder(path.dirname(path.join(gitDir, name)));
    await writeFile(path.join(gitDir, name), text);
  }
  if (index !== null) await copyFile(index, path.join(gitDir, 'index'));
  await makeFolder(folder);
  await appendFile(path.join(folder, '.git'), `gitdir: ${inside.gitDir}\n`);
}

const VISIBLE = ['refs/heads', 'refs/tags', 'refs/remotes'];

/** Branches and tags of the user: builds need them for `git describe`, agents to see what has changed since `origin/main`. */
async function packedRefs(git: GitCommand): Promise<string> {
  const text = await git.text(['for-each-ref', '--format=%(objectname) %(refname)', ...VISIBLE]);
  const lines = linesOf(text).filter((line) => !line.includes(' refs/heads/mahabharatha/'));
  return lines.map((line) => `${line}\n`).join('');
}
