import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import type { Labels } from '../engines/index.ts';
import { heldFolders, readJson, stateHome, writeFileAtomic } from '../lib/index.ts';
import type { Environment, HeldFolder } from '../lib/index.ts';

const ADDRESS = 'address.json';
const addressFile = z.object({ address: z.string() });

/** The folders of the servers of one user. */
export const serversHome = (env: Environment): string => path.join(stateHome(env), 'servers');

/** Their folder for what is known of the caches of projects. */
export const cachesHome = (env: Environment): string => path.join(stateHome(env), 'session-caches');

/** On everything that a user's servers have in the engine: several machines and containers may use one engine. */
export const homeLabels = (env: Environment): Labels => ({
  'mahabharatha.servers': serversHome(env),
  'mahabharatha.machine': hostname(),
});

export const tellAddress = ({ folder }: HeldFolder, address: string): Promise<void> =>
  writeFileAtomic(path.join(folder, ADDRESS), JSON.stringify({ address }), { durable: false, mode: 0o600 });

/** Where the servers of this user listen. */
export async function findServers(env: Environment): Promise<string[]> {
  const home = serversHome(env);
  const folders = heldFolders(home);
  const ids = await readdir(home).catch((): string[] => []);
  const addresses = ids.toSorted().map(async (id) => {
    const text = await readFile(path.join(home, id, ADDRESS), 'utf8').catch(() => undefined);
    const told = readJson(addressFile, text);
    return told !== undefined && (await folders.isAlive(id)) ? [told.address] : [];
  });
  return (await Promise.all(addresses)).flat();
}
