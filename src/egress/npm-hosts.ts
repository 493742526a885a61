import { run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';

const NPM_TIMEOUT_MS = 10_000;

export interface NpmHosts {
  /** The addresses of the user's registries; only their hosts and ports, never a name, password or path. */
  readonly registries: readonly URL[];
  /** What npm is told inside, where it has no configuration of his; without a password. */
  readonly registry?: string;
  /** Why there may be fewer than expected. */
  readonly warning?: string;
}

/** Where the user's npm gets packages: his registry and those of scopes. Asked of npm, which knows all its files. */
export async function readNpmHosts(env: Environment, cwd: string): Promise<NpmHosts> {
  const options = { cwd, env, timeoutMs: NPM_TIMEOUT_MS };
  // The long list, because the short one leaves out addresses with a password in them; here npm covers only that.
  const asked = await run('npm', ['--loglevel=error', 'config', 'list', '--long'], options).catch(() => undefined);
  const listing = asked?.code === 0 ? asked.stdout : '';
  const registries = registriesIn(listing);
  const registry = defaultRegistry(listing);
  if (registries.length > 0) return { registries, ...(registry === undefined ? {} : { registry }) };
  const cause =
    asked === undefined ? 'npm could not be started' : asked.timedOut ? 'npm did not answer' : 'it names none';
  return {
    registries,
    warning: `The preset "npm" in workers.container.allow is empty (${cause}): workers cannot install npm packages. Name your registry's host there, or install npm on this machine.`,
  };
}

const LINE = /^(?:@[^\s=]+:)?registry = (".*")$/;

/** Pure. The one without a scope. */
export function defaultRegistry(listing: string): string | undefined {
  const [line] = listing.split('\n').filter((one) => one.startsWith('registry = "'));
  const address = unquoted(line?.slice('registry = '.length) ?? '');
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  [url.username, url.password] = ['', ''];
  return url.href;
}

/** Pure. What is overridden has a ";" before it. */
export function registriesIn(listing: string): URL[] {
  const addresses = listing.split('\n').flatMap((line) => {
    const [, quoted] = LINE.exec(line.trim()) ?? [];
    return quoted === undefined ? [] : [unquoted(quoted)];
  });
  const hosts = addresses.flatMap((address) => {
    if (!URL.canParse(address)) return [];
    const { protocol, host } = new URL(address);
    return ['http:', 'https:'].includes(protocol) ? [`${protocol}//${host}/`] : [];
  });
  return [...new Set(hosts)].map((host) => new URL(host));
}

function unquoted(text: string): string {
  try {
    return String(JSON.parse(text));
  } catch {
    return '';
  }
}
