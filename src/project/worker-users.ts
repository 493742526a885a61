import { readFile } from 'node:fs/promises';
import { containerIdentity } from '../containers/index.ts';
import type { Identity } from '../containers/index.ts';
import type { Repository } from '../git/index.ts';
import { closedObjects } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { projectErrors } from './errors.ts';

const read = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** The user and group that this user's containers run as. */
export async function findWorkerUsers(): Promise<Identity> {
  const [passwd, group, subuid] = await Promise.all(['/etc/passwd', '/etc/group', '/etc/subuid'].map(read));
  const known = { passwd: passwd ?? '', group: group ?? '', subuid: subuid ?? '' };
  return containerIdentity(process.getuid?.() ?? 0, process.getgid?.() ?? 0, known);
}

/** Throws when the user of the containers may not read the repository's git objects. */
export async function checkObjects(repository: Repository, env: Environment): Promise<void> {
  const folders = await repository.objectFolders();
  const who = await findWorkerUsers();
  const closed = await closedObjects(folders, who, env);
  if (closed === undefined) return;
  const whose = folders.find((folder) => closed.startsWith(folder)) ?? closed;
  const reason = `workers run as user ${who.uid}, who may not read ${closed}; to let all users of this machine read it: chmod -R a+rX '${whose}'`;
  throw projectErrors.MODE_UNAVAILABLE({ mode: 'container', reason });
}
