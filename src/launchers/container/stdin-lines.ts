import type { KnownAtStart } from '../../containers/index.ts';
import { withGitSettings } from '../../git/index.ts';
import type { Environment } from '../../lib/index.ts';
import type { AgentAccess, Credentials, Handover } from '../../protocol/index.ts';
import type { WorkerSpec } from '../launcher.ts';
import type { ContainerSettings } from './settings.ts';

/** Inside, folders may belong to another user id than git's: git trusts them all the same. */
const TRUSTED_FOLDERS = ['safe.directory', '*'] as const;

/** The first line of a worker's stdin: what it and its tasks are given. */
export async function handoverLine(
  spec: WorkerSpec,
  settings: ContainerSettings,
  { token, imageEnv }: KnownAtStart,
): Promise<string> {
  const handover: Handover = {
    version: 3,
    env: await taskVariables(spec.env, settings, imageEnv),
    secrets: settings.secrets,
    egress: token,
  };
  return JSON.stringify(handover);
}

/** The variables of everything that runs for a task in a container, beside those of the container itself. */
export async function taskVariables(
  given: Environment,
  settings: Pick<ContainerSettings, 'egress' | 'caches'>,
  imageEnv: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const proxied = settings.egress === null ? {} : await settings.egress.env;
  const caches = settings.caches.map((cache) => cache.env);
  const all = Object.assign({}, forTasks(imageEnv), proxied, defined(given), ...caches) as Environment;
  return defined(withGitSettings(all, [TRUSTED_FOLDERS]));
}

/** The image's variables for tasks, without those that the worker itself sets. */
function forTasks(imageEnv: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(imageEnv).filter(([name]) => name !== 'HOME' && !name.startsWith('MAHABHARATHA_')),
  );
}

function defined(env: Environment): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** A later line: what the agent of one attempt proves itself with. */
export function credentialsLine(
  attempt: string,
  { agent, secrets }: AgentAccess,
  model: Credentials['agent']['model'],
): string {
  const credentials: Credentials = { version: 2, attempt, agent: { ...agent, model }, secrets };
  return JSON.stringify(credentials);
}
