import { realpath } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';
import { configErrors } from '../config/errors.ts';
import { loadSettings } from '../config/index.ts';
import type { Settings } from '../config/index.ts';
import { extraMounts } from '../containers/index.ts';
import { allowlistProblems } from '../egress/rules/index.ts';
import type { ContainerSettings } from '../launchers/index.ts';
import { settingsHome, stateHome } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { ContainerWishes } from './run-workers.ts';

export type ConfigWishes = Pick<ContainerWishes, 'project' | 'config' | 'env'>;

/** The user's own mounts; what no run in containers could use of them, or of the allowlist, is refused all at once. */
export async function checkedMounts(
  { project, config, env }: ConfigWishes,
  /** Where the engine listens, if there is one. */
  endpoint: string | null,
): Promise<ContainerSettings['mounts']> {
  const { network, allow, mounts: wished } = config.workers.container;
  const { root, commonDir } = project.repository;
  const objects = await project.repository.objectFolders();
  const { file, allowed } = await allowedFolders(env, root);
  const own = [settingsHome(env), stateHome(env), project.paths.placeOf('').top];
  const places = { homes: homesOf(env), root, commonDir, objects, engine: endpoint, own, allowed, settingsFile: file };
  const { mounts, problems } = await extraMounts(wished, places);
  const all = [...(network === 'allowlist' ? allowlistProblems(allow) : []), ...problems];
  if (all.length > 0) throw configErrors.CONFIG_INVALID({ file: project.paths.config, problems: all });
  return mounts;
}

/** What the user lets repositories mount. A file in the repository is not the user's word: who writes there, wrote it. */
export async function allowedFolders(
  env: Environment,
  root: string,
): Promise<{ readonly file: string; readonly allowed: Settings['mounts']['allow'] }> {
  const file = path.join(settingsHome(env), 'settings.yaml');
  const real = await realpath(file).catch(() => file);
  if (real.startsWith(`${root}${path.sep}`)) return { file, allowed: [] };
  return { file, allowed: (await loadSettings(file)).mounts.allow };
}

/** Where HOME leads elsewhere, the user's keys are still in the folder that the system knows. */
function homesOf(env: Environment): [string, ...string[]] {
  const home = env['HOME'] || homedir();
  try {
    return [home, userInfo().homedir];
  } catch {
    // A user whom the system does not know.
    return [home];
  }
}
