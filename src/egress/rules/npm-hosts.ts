import type { Environment } from '../../lib/index.ts';
import { askUserRegistries, readProjectRegistries } from '../../npm/index.ts';
import { WORKERS, withoutRegistry } from './audience.ts';

export interface NpmHosts {
  /** The addresses of the user's registries; only their hosts and ports, never a name, password or path. */
  readonly registries: readonly URL[];
  /** Those that only the repository's own .npmrc names: a task may have written them. */
  readonly project: readonly URL[];
  /** What npm gets inside, where it has no configuration of the user's; without a password. */
  readonly registry?: string;
  readonly warnings: readonly string[];
}

/** Where npm gets packages: from the user's registries, and those that the repository's own .npmrc names. */
export async function readNpmHosts(env: Environment, repository: string, audience = WORKERS): Promise<NpmHosts> {
  const [users, project] = await Promise.all([askUserRegistries(env), readProjectRegistries(repository)]);
  const { warnings } = project;
  if (users.missing !== undefined) {
    return { registries: [], project: [], warnings: [withoutRegistry(audience, users.missing), ...warnings] };
  }
  const known = new Set(users.hosts.map(({ host }) => host));
  const foreign = new Map(project.addresses.filter(({ host }) => !known.has(host)).map((url) => [url.host, url]));
  const registry = isChosen(env) ? users.registry : (project.registry ?? users.registry);
  return {
    registries: users.hosts,
    project: [...foreign.values()],
    warnings,
    ...(registry === undefined ? {} : { registry }),
  };
}

/** What the environment says goes before the repository's file, as in npm. */
const isChosen = (env: Environment): boolean => Object.keys(env).some((name) => /^npm_config_registry$/i.test(name));
