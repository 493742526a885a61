import type { Repository } from '../git/index.ts';
import { identityInWords } from '../containers/index.ts';
import { closedObjects } from '../launchers/index.ts';
import type { Environment } from '../lib/index.ts';
import { projectErrors } from './errors.ts';
import { findWorkerUsers } from './worker-users.ts';

/** Workers in containers read the repository's objects as who they are; better to say before the start that they may not. */
export async function checkObjects(repository: Repository, env: Environment): Promise<void> {
  const folders = await repository.objectFolders();
  const who = await findWorkerUsers();
  const closed = await closedObjects(folders, who, env);
  if (closed === undefined) return;
  const whose = folders.find((folder) => closed.startsWith(folder)) ?? closed;
  const reason = `workers run as ${identityInWords(who)}, who may not read ${closed}; to let everybody on this machine read it: chmod -R a+rX '${whose}'`;
  throw projectErrors.MODE_UNAVAILABLE({ mode: 'container', reason });
}
