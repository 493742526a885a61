import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { unquoted, webAddress, withoutSecrets } from './npmrc.ts';

/** Long, because npm starts slowly on a busy machine, and without its answer workers reach no registry. */
const NPM_TIMEOUT_MS = 60_000;

export interface UserRegistries {
  /** Only hosts and ports, without user, password and path. */
  readonly hosts: readonly URL[];
  /** The default one, without a password. */
  readonly registry?: string;
  /** Why there are none. */
  readonly missing?: string;
}

/** The registries of the user's npm: the default one and those of scopes. npm itself is asked, since it knows all its files. */
export async function askUserRegistries(env: Environment): Promise<UserRegistries> {
  const asked = await askNpm(env).catch(() => undefined);
  const listing = asked?.code === 0 ? asked.stdout : '';
  const hosts = registriesIn(listing);
  if (hosts.length > 0) {
    const registry = defaultRegistry(listing);
    return { hosts, ...(registry === undefined ? {} : { registry }) };
  }
  return { hosts: [], missing: whyNone(asked) };
}

function whyNone(asked: Awaited<ReturnType<typeof askNpm>> | undefined): string {
  if (asked === undefined) return 'npm could not be started';
  if (asked.timedOut) return 'npm did not answer';
  return /registry = ".*\$\{/.test(asked.stdout)
    ? 'its address has a variable in it, which is not filled in'
    : 'it names none';
}

/** In an empty folder with a package.json, so that npm finds no project's .npmrc, which it would obey. */
async function askNpm(env: Environment): ReturnType<typeof run> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mahabharatha-npm-'));
  try {
    await writeFile(path.join(folder, 'package.json'), '{}\n');
    // The long list: the short one leaves out addresses with a password, of which this one hides only the password.
    const quiet = ['--loglevel=error', '--logs-max=0', '--no-update-notifier', `--cache=${folder}`];
    const args = [...quiet, '--global', 'config', 'list', '--long'];
    return await run('npm', args, { cwd: folder, env: npmEnvironment(env), timeoutMs: NPM_TIMEOUT_MS });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const NEEDED = /^(?:PATH|HOME|npm_config_(?:registry|userconfig|globalconfig|prefix|@.+:registry))$/i;

/** Pure. Only what leads npm to its files and registries: a file could ask for any other variable. */
export function npmEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => NEEDED.test(name)));
}

const LINE = /^(?:@[^\s=]+:)?registry = (".*")$/;

/** Pure. The registry without a scope. */
export function defaultRegistry(listing: string): string | undefined {
  const [line] = listing.split('\n').filter((one) => one.startsWith('registry = "'));
  const url = urlOf(line?.slice('registry = '.length) ?? '');
  return url && withoutSecrets(url).href;
}

/** Pure. npm puts a ";" before values that are overridden, which do not count. */
export function registriesIn(listing: string): URL[] {
  const hosts = listing.split('\n').flatMap((line) => {
    const [, quoted = ''] = LINE.exec(line.trim()) ?? [];
    const url = urlOf(quoted);
    return url === undefined ? [] : [`${url.protocol}//${url.host}/`];
  });
  return [...new Set(hosts)].map((host) => new URL(host));
}

/** Undefined with a "${…}", a variable that npm could not fill in. */
function urlOf(quoted: string): URL | undefined {
  const address = unquoted(quoted);
  return address.includes('${') ? undefined : webAddress(address);
}
