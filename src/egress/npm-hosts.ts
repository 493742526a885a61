import { existsSync } from 'node:fs';
import path from 'node:path';
import { run } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';

const NPM_TIMEOUT_MS = 10_000;

export interface NpmHosts {
  /** The addresses of the user's registries; only their hosts and ports, never a name, password or path. */
  readonly registries: readonly URL[];
  /** Those that only the repository's own .npmrc names, which is whoever has written to the repository. */
  readonly project: readonly URL[];
  /** What npm is told inside, where it has no configuration of his; without a password. */
  readonly registry?: string;
  /** Why there may be fewer than expected. */
  readonly warning?: string;
}

/** Where the user's npm gets packages: his registry and those of scopes. Asked of npm, which knows all its files. */
export async function readNpmHosts(env: Environment, cwd: string): Promise<NpmHosts> {
  const options = { cwd, env, timeoutMs: NPM_TIMEOUT_MS };
  // The long list, because the short one leaves out addresses with a password in them; here npm covers only that.
  const ask = (...more: string[]): Promise<Asked> =>
    run('npm', [...more, '--loglevel=error', 'config', 'list', '--long'], options).catch(() => undefined);
  // Asked as for the whole machine it leaves the project's file out. The headings of one list would tell them apart too,
  // but a key in that file may be written so that it looks like a heading.
  const own = ask('--global');
  const [all] = await Promise.all([hasProjectFile(cwd, env) ? ask() : own, own]);
  const users = await own;
  const registries = registriesIn(users?.code === 0 ? users.stdout : '');
  const known = new Set(registries.map(String));
  const listing = all?.code === 0 ? all.stdout : '';
  const registry = defaultRegistry(listing);
  if (known.size > 0 && listing !== '') {
    const project = registriesIn(listing).filter((url) => !known.has(String(url)));
    return { registries, project, ...(registry === undefined ? {} : { registry }) };
  }
  const cause = all === undefined ? 'npm could not be started' : all.timedOut ? 'npm did not answer' : 'it names none';
  return {
    registries: [],
    project: [],
    warning: `The preset "npm" in workers.container.allow is empty (${cause}): workers cannot install npm packages. Name your registry's host there, or install npm on this machine.`,
  };
}

/** Is there one that npm could take for the project's? To ask npm takes near half a second each time. */
function hasProjectFile(cwd: string, env: Environment): boolean {
  for (let folder = path.resolve(cwd); ; folder = path.dirname(folder)) {
    if (folder !== env['HOME'] && existsSync(path.join(folder, '.npmrc'))) return true;
    if (folder === path.dirname(folder)) return false;
  }
}

type Asked = Awaited<ReturnType<typeof run>> | undefined;

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
