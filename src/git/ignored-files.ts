import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { gitErrors } from './errors.ts';
import { entriesOf } from './git-command.ts';
import type { GitCommand } from './git-command.ts';

/** What is at a path of a working tree. */
interface Found {
  readonly kind: 'file' | 'folder';
  /** The same for two names of one file, as on a file system that ignores case. */
  readonly id: string;
}

interface Place {
  readonly worktree: string;
  readonly branch: string;
}

/**
 * Git overwrites ignored files without asking: keys, settings, data of the user. Throws when a merge that changes `files`
 * would overwrite one.
 */
export async function checkIgnored(
  git: GitCommand,
  { worktree, branch }: Place,
  files: readonly string[],
): Promise<void> {
  const tracked = entriesOf(await git.text(['ls-files', '-z']));
  const found = await look(worktree, files, tracked);
  const clashing = clashes(files, tracked, found);
  const inside = await untrackedBelow(git, clashing.folders);
  const ignored = await ignoredAmong(git, [...clashing.files, ...inside]);
  if (ignored.length > 0) throw gitErrors.MERGE_OVER_IGNORED({ into: branch, worktree, files: ignored });
}

/** Pure: untracked files and folders that are in the place of one of the files, or of a folder that contains it. */
export function clashes(
  files: readonly string[],
  tracked: readonly string[],
  found: ReadonlyMap<string, Found>,
): { readonly files: string[]; readonly folders: string[] } {
  // The id alone is not enough: a hard link is another name for the same file.
  const asOnDisk = (name: string): string => `${found.get(name)?.id} ${foldCase(name)}`;
  const [known, knownOnDisk] = [new Set(tracked), new Set(tracked.map(asOnDisk))];
  const isKnown = (name: string): boolean => known.has(name) || knownOnDisk.has(asOnDisk(name));
  const unknown = [...new Set(files.flatMap(withFolders))].filter((name) => found.has(name) && !isKnown(name));
  const wanted = new Set(files);
  return {
    files: unknown.filter((name) => found.get(name)?.kind === 'file'),
    // A folder is an obstacle only in the place of a file.
    folders: unknown.filter((name) => found.get(name)?.kind === 'folder' && wanted.has(name)),
  };
}

/** About as file systems that ignore case compare names. */
const foldCase = (name: string): string => name.normalize('NFC').toLowerCase();

/** "a/b/c": "a", "a/b", "a/b/c". */
function withFolders(file: string): string[] {
  const names = file.split('/');
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}

async function look(
  worktree: string,
  files: readonly string[],
  tracked: readonly string[],
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>();
  const lookAt = async (name: string): Promise<void> => {
    // What cannot be examined, git cannot overwrite either.
    const stat = await lstat(path.join(worktree, name)).catch(() => undefined);
    if (stat !== undefined)
      found.set(name, { kind: stat.isDirectory() ? 'folder' : 'file', id: `${stat.dev}:${stat.ino}` });
  };
  const names = new Set(files.flatMap(withFolders));
  for (const name of names) {
    const above = path.posix.dirname(name);
    // A link leads to another place.
    if (above === '.' || found.get(above)?.kind === 'folder') await lookAt(name);
  }
  const folded = new Set([...found.keys()].map(foldCase));
  for (const name of tracked) if (folded.has(foldCase(name)) && !found.has(name)) await lookAt(name);
  return found;
}

async function untrackedBelow(git: GitCommand, folders: readonly string[]): Promise<string[]> {
  if (folders.length === 0) return [];
  const { stdout } = await git.result(['config', '--type=bool', 'core.ignoreCase'], { answers: [0, 1] });
  const magic = stdout.trim() === 'true' ? 'top,literal,icase' : 'top,literal';
  const found: string[] = [];
  for (const folder of folders)
    found.push(...entriesOf(await git.text(['ls-files', '-z', '--others', '--', `:(${magic})${folder}`])));
  return found;
}

async function ignoredAmong(git: GitCommand, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const input = names.map((name) => `${name}\0`).join('');
  return entriesOf((await git.result(['check-ignore', '-z', '--stdin'], { input, answers: [0, 1] })).stdout);
}
