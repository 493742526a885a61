import { access, lchown, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { WorkerSpec } from '../launcher.ts';
import { emptyFile } from './container-spec.ts';

/** Who works in a container: ourselves, or when that is root, somebody without rights who owns what is mounted. */
export function workerIdentity(uid: number, gid: number): { readonly uid: number; readonly gid: number } {
  if (uid === 0) return { uid: 1000, gid: 1000 };
  return { uid, gid: gid === 0 ? uid : gid };
}

/** Before the start, when nobody is in there yet: later no code of the host goes through these folders. */
export async function giveFolders(spec: WorkerSpec, uid: number, gid: number): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { worktree, outbox, privateGit } = spec;
  for (const folder of [worktree, outbox, ...(privateGit === null ? [] : [privateGit.gitDir])])
    await giveTree(folder, uid, gid);
  // Copied files keep their rights: what only its owner may read must be the worker's to be of any use.
  await giveTree(path.join(spec.shared, 'copies'), uid, gid).catch(ignoreMissing);
}

async function giveTree(entry: string, uid: number, gid: number): Promise<void> {
  await lchown(entry, uid, gid);
  const names = await readdir(entry, { withFileTypes: true }).catch(() => []);
  for (const name of names) await giveTree(path.join(entry, name.name), uid, gid);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

/**
 * Which object folders borrow from others. All that they borrow from is mounted beside them, and their own lists name
 * paths of this machine, which are not there inside.
 */
export async function maskedObjects(spec: WorkerSpec): Promise<number[]> {
  const lists = (spec.privateGit?.objects ?? []).map((folder) => path.join(folder, 'info', 'alternates'));
  const there = await Promise.all(
    lists.map((list) =>
      access(list).then(
        () => true,
        () => false,
      ),
    ),
  );
  const masked = lists.flatMap((_, index) => (there[index] ? [index] : []));
  if (masked.length > 0) await writeFile(emptyFile(spec), '');
  return masked;
}
