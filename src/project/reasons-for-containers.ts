import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config/index.ts';
import { digestOf, isThere, makeFolder, stateHome, systemCode, writeFileAtomic } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { Place, Project } from './project.ts';

/** Why workers of this repository are meant to run in containers, in words; empty without a reason. */
export async function reasonsForContainers(
  { repository, paths }: Project,
  workers: Config['workers'],
  { env }: Pick<Place, 'env'>,
): Promise<string[]> {
  const [known, described] = await Promise.all([
    hasRunInContainers(repository.commonDir, env),
    isThere(path.join(paths.top, 'Dockerfile')),
  ]);
  return [
    ...(known ? ['this repository has run in containers on this machine'] : []),
    ...(workers.asksForContainers ? ['its configuration sets workers.container, or workers.mode to container'] : []),
    ...(described ? ['it describes an image of its own: .mahabharatha/Dockerfile'] : []),
  ];
}

/**
 * Whether a repository has run in containers on this machine. The record is in the user's state folder, where neither
 * a clean-up nor a task in a container removes it. A record that cannot be read counts as there.
 */
export async function hasRunInContainers(commonDir: string, env: Environment): Promise<boolean> {
  return lstat(memoryFile(commonDir, env)).then(
    () => true,
    (error: unknown) => systemCode(error) !== 'ENOENT',
  );
}

export async function rememberContainers(commonDir: string, env: Environment): Promise<void> {
  const file = memoryFile(commonDir, env);
  await makeFolder(path.dirname(file), 0o700);
  await writeFileAtomic(file, `${commonDir}\n`, { durable: false, mode: 0o600 });
}

function memoryFile(commonDir: string, env: Environment): string {
  const key = digestOf(commonDir).slice(0, 32);
  return path.join(stateHome(env), 'containers', key);
}
