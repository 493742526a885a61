import { readFile } from 'node:fs/promises';
import { libErrors, reasonOf } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { askUserRegistries } from '../npm/index.ts';
import { contextFile } from './content.ts';
import type { BuildRoute } from './kind.ts';

const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

/** What this machine trusts beyond the usual authorities: the file that Node is told of. */
export async function readCertificates(env: Environment): Promise<Uint8Array | null> {
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (file === '') return null;
  try {
    return await readFile(file);
  } catch (error) {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

/** How this machine gets at packages: the user's npm registry and proxies. Both serve the build and stay out of the image. */
export async function readBuildRoute(env: Environment): Promise<BuildRoute> {
  const { registry } = await askUserRegistries(env);
  const npmrc = registry === undefined ? [] : [contextFile('docker/worker/npmrc', `registry=${registry}\n`)];
  return { files: npmrc, buildArgs: proxiesFor(env), notes: [] };
}

/** The same for a Dockerfile that somebody else may have written: no registry, and no logins. */
export async function readCarefulRoute(env: Environment): Promise<BuildRoute> {
  const { proxies, withheld } = proxiesWithoutPasswords(env);
  const note = `the name and password in ${withheld.join(' and ')} are not given to the repository's Dockerfile`;
  return { files: [], buildArgs: proxies, notes: withheld.length > 0 ? [note] : [] };
}

const LOOPBACK = /(^|[/@])(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:|\/|$)/i;

/** Pure. A proxy on this machine's own loopback is somebody else's inside a container, so it is left out. */
export function proxiesFor(env: Environment): Record<string, string> {
  const proxies: Record<string, string> = {};
  for (const name of PROXIES) {
    const value = env[name] ?? '';
    const exceptions = name.toLowerCase() === 'no_proxy';
    if (value !== '' && (exceptions || !LOOPBACK.test(value))) proxies[name] = value;
  }
  return proxies;
}

/** Scheme, then all that stands before the host. */
const LOGIN = /^([a-z][a-z0-9+.-]*:\/\/)?.*@/i;

/** Pure. A Dockerfile could print them, or send them away. */
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
