import type { Environment } from '../lib/index.ts';
import { askUserRegistries } from '../npm/index.ts';
import { contextFile } from './content.ts';
import type { BuildRoute } from './kind.ts';
import { readOrThrow } from './sources.ts';

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

/** The authorities that this machine trusts in addition: the file that NODE_EXTRA_CA_CERTS names. */
export async function readCertificates(env: Environment): Promise<Uint8Array | null> {
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  return file === '' ? null : readOrThrow(file);
}

/** The user's npm registry and proxies, for the build; neither stays in the image. */
export async function readBuildRoute(env: Environment): Promise<BuildRoute> {
  const { registry } = await askUserRegistries(env);
  const npmrc = registry === undefined ? [] : [contextFile('docker/worker/npmrc', `registry=${registry}\n`)];
  return { files: npmrc, buildArgs: proxiesFor(env), notes: [] };
}

/** For a repository's Dockerfile, which may be hostile: no registry, and no logins. */
export async function readCarefulRoute(env: Environment): Promise<BuildRoute> {
  const { proxies, withheld } = proxiesWithoutPasswords(env);
  const note = `the name and password in ${withheld.join(' and ')} are not given to the repository's Dockerfile`;
  return { files: [], buildArgs: proxies, notes: withheld.length > 0 ? [note] : [] };
}

const LOOPBACK = /(^|[/@])(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/i;

/** Pure. Without proxies on the loopback, which inside a container is another one. */
export function proxiesFor(env: Environment): Record<string, string> {
  const proxies: Record<string, string> = {};
  for (const name of PROXIES) {
    const value = env[name] ?? '';
    const exceptions = name.toLowerCase() === 'no_proxy';
    if (value !== '' && (exceptions || !LOOPBACK.test(value))) proxies[name] = value;
  }
  return proxies;
}

/** The scheme, and all that stands before the host. */
const LOGIN = /^([a-z][a-z0-9+.-]*:\/\/)?.*@/i;

/** Pure. A Dockerfile could print passwords, or send them away. */
export function proxiesWithoutPasswords(env: Environment): {
  readonly proxies: Record<string, string>;
  /** Names of variables whose login is left out. */
  readonly withheld: readonly string[];
} {
  const all = Object.entries(proxiesFor(env));
  const proxies = all.map(([name, value]) => [name, value.replace(LOGIN, '$1')] as const);
  const withheld = all.flatMap(([name, value]) => (LOGIN.test(value) ? [name] : []));
  return { proxies: Object.fromEntries(proxies), withheld };
}
