import { readFile } from 'node:fs/promises';
import { AppError, reasonOf, run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { contextFile } from './content.ts';
import type { BuildRoute } from './worker-image.ts';

const NPM_TIMEOUT_MS = 10_000;
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

/** What this machine trusts beyond the usual authorities: the file that Node is told of. */
export async function readCertificates(env: Environment): Promise<Uint8Array | null> {
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (file === '') return null;
  try {
    return await readFile(file);
  } catch (error) {
    throw new AppError('FILE_UNREADABLE', { file, reason: reasonOf(error) }, { cause: error });
  }
}

/** How this machine gets at packages: the user's npm registry and his proxies. Both serve the build and stay out of the image. */
export async function readBuildRoute(env: Environment, cwd: string): Promise<BuildRoute> {
  const registry = await npmRegistry(env, cwd);
  const npmrc = registry === undefined ? [] : [contextFile('docker/worker/npmrc', `registry=${registry}\n`)];
  return { files: npmrc, buildArgs: proxiesFor(env) };
}

async function npmRegistry(env: Environment, cwd: string): Promise<string | undefined> {
  const asked = await run('npm', ['--loglevel=error', 'config', 'get', 'registry'], {
    cwd,
    env,
    timeoutMs: NPM_TIMEOUT_MS,
  }).catch(() => undefined);
  return asked?.code === 0 ? withoutCredentials(asked.stdout.trim()) : undefined;
}

/** Pure. An address as others may see it; undefined when it is none. */
export function withoutCredentials(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
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
