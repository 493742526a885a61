import { existsSync } from 'node:fs';
import { chmod, cp, lchown, lstat, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { removeTree, run } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import { COPIES, SHELL_WORKER, STATUS_LIMIT } from '../../protocol/index.ts';
import type { WorkerSpec } from '../launcher.ts';
import type { Identity } from '../../containers/index.ts';
import type { Places } from './labels.ts';

const STATUS = 'status.json';

/** Makes the folders ready for their container. Returns the indexes of the object folders whose lists are hidden inside. */
export async function prepareFolders(
  spec: WorkerSpec,
  settings: Identity & { readonly network: string },
): Promise<number[]> {
  await giveFolders(spec, settings);
  if (settings.network === 'none') await writeHosts(spec);
  return maskedObjects(spec);
}

/** Gives the worker its folders. To be called before its start: later no code of the host goes through them. */
export async function giveFolders(spec: WorkerSpec, { uid, gid }: Identity): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { worktree, inbox, outbox, shared, privateGit } = spec;
  // The worker only reads them. An earlier run, or root's mask, may have closed them.
  for (const folder of [inbox, shared]) await chmod(folder, 0o755);
  const given = [worktree, outbox, privateGit?.gitDir, spec.layers?.work].filter((folder) => folder !== undefined);
  for (const folder of given) await giveTree(folder, uid, gid);
  await giveCopies(spec, uid, gid);
}

/**
 * The first file or folder among objects that this user may not read; undefined when there is none. A worker could not
 * check anything out without it. What git is still writing does not count.
 */
export async function closedObjects(
  folders: readonly string[],
  { uid, gid }: { readonly uid: number; readonly gid: number },
  env: Environment,
): Promise<string | undefined> {
  const mayRead = `-uid ${uid} -o -gid ${gid} ${readable('-0050', '-0040')} -o ${readable('-0005', '-0004')}`;
  const args = [...folders, ...`-name tmp_* -prune -o ! ( ${mayRead} ) -print -quit`.split(' ')];
  const { stdout } = await run('find', args, { cwd: '/', env: { PATH: env['PATH'], LC_ALL: 'C' } });
  return stdout === '' ? undefined : stdout.replace(/\n$/, '');
}

const readable = (folder: string, file: string): string => `( -type d -perm ${folder} -o ! -type d -perm ${file} )`;

/** Never follows a link: it may lead out of the tree. */
async function giveTree(entry: string, uid: number, gid: number, isFolder = true): Promise<void> {
  await lchown(entry, uid, gid);
  const names = isFolder ? await readdir(entry, { withFileTypes: true }) : [];
  for (const name of names) await giveTree(path.join(entry, name.name), uid, gid, name.isDirectory());
}

/** Copied files keep their rights. A file that only its owner may read must belong to the worker, so each worker has its own copies. */
async function giveCopies({ inbox, shared }: WorkerSpec, uid: number, gid: number): Promise<void> {
  const [common, own] = [path.join(shared, COPIES), path.join(inbox, COPIES)];
  await removeTree(own);
  if (!existsSync(common)) return;
  await cp(common, own, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  await giveTree(own, uid, gid);
}

/** The hosts file of a container without a network. */
export async function writeHosts(spec: WorkerSpec): Promise<void> {
  const lines = ['127.0.0.1\tlocalhost', `127.0.1.1\t${hostnameOf(spec)}`, '::1\tip6-localhost ip6-loopback'];
  await writeFile(hostsFile(spec), `${lines.join('\n')}\n`);
}

/**
 * The indexes of the object folders that borrow from others. Their lists name paths of this machine, which are missing
 * inside; the folders themselves are mounted beside them.
 */
export function hiddenObjects(spec: WorkerSpec): number[] {
  const lists = (spec.privateGit?.objects ?? []).map((folder) => path.join(folder, 'info', 'alternates'));
  return lists.flatMap((list, index) => (existsSync(list) ? [index] : []));
}

/** Makes what hides the lists of those. */
export async function maskedObjects(spec: WorkerSpec): Promise<number[]> {
  const masked = hiddenObjects(spec);
  if (masked.length > 0) await writeFile(emptyFile(spec), '');
  return masked;
}

/** Makes room after a worker that ended because it kept too much. Its last status stays. */
export async function emptyFolders({ worktree, gitDir, outbox }: Places): Promise<void> {
  const status = path.join(outbox, STATUS);
  const isStatus = await lstat(status).then(
    (stat) => stat.isFile() && stat.size <= STATUS_LIMIT,
    () => false,
  );
  const names = await readdir(outbox).catch(() => []);
  const mail = names.map((name) => path.join(outbox, name)).filter((file) => !(isStatus && file === status));
  // What cannot be removed now is removed when the next worker starts.
  await Promise.allSettled([worktree, gitDir, ...mail].map((entry) => removeTree(entry)));
}

/** An empty file that is mounted over a hidden one. It is in the inbox, which only the host writes. */
export function emptyFile({ inbox }: Pick<WorkerSpec, 'inbox'>): string {
  return path.join(inbox, 'empty');
}

/** Fixed before the container is made, because its hosts file names it. */
export function hostnameOf({ worker }: Pick<WorkerSpec, 'worker'>): string {
  return worker === SHELL_WORKER ? 'shell' : `worker-${worker}`;
}

/** Names localhost and the worker. An engine writes one only for a container with a network. */
export function hostsFile({ inbox }: Pick<WorkerSpec, 'inbox'>): string {
  return path.join(inbox, 'hosts');
}
