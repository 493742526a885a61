import { readFile, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { checkedOutIn } from './checked-out.ts';
import { removeQuarantines } from './quarantine.ts';
import { changeRefs } from './refs.ts';
import { linesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

interface LooseRef {
  readonly ref: string;
  readonly file: string;
}

const ID = /^[0-9a-f]{40,64}\n$/;
const WORKERS_LOCK = /\/worker-\d+\.lock$/;

/**
 * Repairs refs after a loss of power or a killed git: locks that no process holds, empty files, ids of missing commits.
 * Git can neither read nor replace these. A ref whose commit is `known` and there is made again, all others are removed.
 * Objects that were being examined are removed too. Returns the broken refs. Only the caller writes these refs.
 */
export async function repairRefs(
  git: GitCommand,
  commonDir: string,
  feature: string,
  known: ReadonlyMap<string, string>,
): Promise<string[]> {
  await removeQuarantines(commonDir, feature);
  const prefixes = [`refs/heads/mahabharatha/${feature}`, `refs/mahabharatha/${feature}`];
  const files = (await Promise.all(prefixes.map((prefix) => looseFiles(commonDir, prefix)))).flat();
  const locks = await leftLocks(git, commonDir, files);
  const refs = files.filter(({ ref }) => !ref.endsWith('.lock'));
  const broken = await brokenAmong(git, refs);
  for (const { file } of [...locks, ...broken]) await rm(file, { force: true });
  const commits = broken.flatMap(({ ref }) => known.get(ref) ?? []);
  const missing = await missingAmong(git, commits);
  const remade = broken.flatMap(({ ref }) => {
    const to = known.get(ref);
    return to === undefined || missing.has(to) ? [] : [{ ref, to }];
  });
  await changeRefs(git, remade);
  return broken.map(({ ref }) => ref);
}

/** Is everything there that the commits have beyond the base? */
export async function isWhole(git: GitCommand, commits: readonly string[], base: string): Promise<boolean> {
  const args = ['rev-list', '--objects', '--no-object-names', ...commits, '--not', base];
  const { code, stdout } = await git.result(args, { answers: [0, 128] });
  if (code !== 0) return false;
  return (await missingAmong(git, linesOf(stdout))).size === 0;
}

/** Has the branch named the commit? Git lets a branch name nothing that is not there. */
export async function wasTip(commonDir: string, branch: string, commit: string): Promise<boolean> {
  const file = path.join(commonDir, 'logs', 'refs', 'heads', branch);
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').some((line) => line.split(' ')[1] === commit);
}

/** Only we move these branches. After a `git prune` their reflogs name commits that are gone, and git fsck fails at them. */
export async function removeReflogs(commonDir: string, branches: readonly string[]): Promise<void> {
  for (const ref of branches) await rm(path.join(commonDir, 'logs', ref), { force: true });
}

/**
 * A worker that was taken over has its branch checked out and may hold its lock, which is removed when that worktree is made
 * anew. Of a worker in a container only we move the branch.
 */
async function leftLocks(git: GitCommand, commonDir: string, files: readonly LooseRef[]): Promise<LooseRef[]> {
  const left: LooseRef[] = [];
  for (const lock of files.filter(({ ref }) => ref.endsWith('.lock'))) {
    const mayBeHeld = WORKERS_LOCK.test(lock.ref);
    const branch = lock.ref.slice(0, -'.lock'.length);
    if (!mayBeHeld || (await checkedOutIn(git, commonDir, branch)) === undefined) left.push(lock);
  }
  return left;
}

async function looseFiles(commonDir: string, prefix: string): Promise<LooseRef[]> {
  const folder = path.join(commonDir, prefix);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return { file, ref: path.relative(commonDir, file) };
    });
}

async function brokenAmong(git: GitCommand, refs: readonly LooseRef[]): Promise<LooseRef[]> {
  const texts = await Promise.all(refs.map(({ file }) => readFile(file, 'latin1').catch(() => '')));
  const ids = texts.filter((text) => ID.test(text)).map((text) => text.trim());
  const missing = await missingAmong(git, ids);
  return refs.filter((_, index) => {
    const text = texts[index] ?? '';
    return !ID.test(text) || missing.has(text.trim());
  });
}

/** Git counts an object whose file is empty as missing. */
async function missingAmong(git: GitCommand, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const text = await git.text(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: `${ids.join('\n')}\n`,
  });
  const lines = text.split('\n').filter((line) => line.endsWith(' missing'));
  return new Set(lines.map((line) => line.slice(0, -' missing'.length)));
}
