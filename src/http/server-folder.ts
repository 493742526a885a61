import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { lockHolder, makePrivateFolder, randomId, removeTree, stateHome, tryLock } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';

/** What a server keeps on this machine, held by a lock as long as the server lives. */
export interface ServerFolder {
  readonly id: string;
  readonly folder: string;
  readonly lock: string;
  remove(): Promise<void>;
}

export const serversHome = (env: Environment): string => path.join(stateHome(env), 'servers');

export async function makeServerFolder(env: Environment): Promise<ServerFolder> {
  const id = `server-${randomId()}`;
  const folder = path.join(serversHome(env), id);
  for (const made of [stateHome(env), serversHome(env), folder]) await makePrivateFolder(made);
  const lock = lockOf(env, id);
  await tryLock(lock);
  return { id, folder, lock, remove: () => removeTree(folder) };
}

export async function isServerAlive(env: Environment, id: string): Promise<boolean> {
  return (await lockHolder(lockOf(env, path.basename(id)))) !== undefined;
}

/** Removes the folders of servers that were killed. */
export async function clearGoneServers(env: Environment): Promise<void> {
  for (const id of await readdir(serversHome(env)).catch((): string[] => []))
    if (!(await isServerAlive(env, id))) await removeTree(path.join(serversHome(env), id)).catch(() => undefined);
}

const lockOf = (env: Environment, id: string): string => path.join(serversHome(env), id, 'lock.json');
