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

/** The mounts that the configuration asks for. All problems of mounts and allowlist are reported together. */
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

/** What the user lets repositories mount. A settings file inside the repository does not count: contributors can write it. */
export async function allowedFolders(
  env: Environment,
  root: string,
): Promise<{ readonly file: string; readonly allowed: Settings['mounts']['allow'] }> {
  const file = path.join(settingsHome(env), 'settings.yaml');
  const real = await realpath(file).catch(() => file);
  if (real.startsWith(`${root}${path.sep}`)) return { file, allowed: [] };
  return { file, allowed: (await loadSettings(file)).mounts.allow };
}

/** Keys are in the home folder that the system knows, also when HOME names another one. */
function homesOf(env: Environment): [string, ...string[]] {
  const home = env['HOME'] || homedir();
  try {
    return [home, userInfo().homedir];
  } catch {
    // The system does not know this user.
    return [home];
  }
}
