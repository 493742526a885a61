import path from 'node:path';
import { z } from 'zod';
import { digestOf, readJson } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import { parseHost } from './endpoint.ts';
import type { Finding, TlsFiles } from './endpoint.ts';

/** What the search may know of the machine that it runs on. */
export interface Machine {
  readonly env: Environment;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** A file's text; undefined when it cannot be read. */
  readonly read: (file: string) => Promise<string | undefined>;
}

/** One way to an engine. */
interface Strategy {
  readonly name: string;
  /** The user has chosen it: the search ends here. */
  readonly isChoice: boolean;
  readonly find: (machine: Machine) => Promise<Finding>;
}

/** The first that leads to an engine wins. */
export const STRATEGIES: readonly Strategy[] = [
  { name: 'DOCKER_HOST', isChoice: true, find: byHostVariable },
  { name: 'docker context', isChoice: true, find: byContext },
  socket('the usual socket', () => '/var/run/docker.sock'),
  socket('rootless Docker', ({ env }) => below(env['XDG_RUNTIME_DIR'], 'docker.sock')),
  socket('Docker Desktop', ({ home }) => path.join(home, '.docker/run/docker.sock')),
  socket('Docker Desktop on Linux', ({ home }) => path.join(home, '.docker/desktop/docker.sock')),
  socket('Colima', ({ env, home }) =>
    path.join(env['COLIMA_HOME'] ?? path.join(home, '.colima'), 'default/docker.sock'),
  ),
  socket('OrbStack', ({ home }) => path.join(home, '.orbstack/run/docker.sock')),
  socket('Rancher Desktop', ({ home }) => path.join(home, '.rd/docker.sock')),
  socket('rootless Podman', ({ env }) => below(env['XDG_RUNTIME_DIR'], 'podman/podman.sock')),
  socket('Podman', ({ platform }) => (platform === 'linux' ? '/run/podman/podman.sock' : undefined)),
];

const NOT_SET: Finding = { kind: 'nothing', reason: 'not set' };

function socket(name: string, where: (machine: Machine) => string | undefined): Strategy {
  const find = async (machine: Machine): Promise<Finding> => {
    const place = where(machine);
    if (place === undefined) return { kind: 'nothing', reason: 'not on this machine' };
    return { kind: 'endpoint', endpoint: { kind: 'socket', path: place } };
  };
  return { name, isChoice: false, find };
}

const below = (folder: string | undefined, file: string): string | undefined =>
  folder === undefined || folder === '' ? undefined : path.join(folder, file);

async function byHostVariable(machine: Machine): Promise<Finding> {
  const { DOCKER_HOST: host = '', DOCKER_TLS_VERIFY: verify = '', DOCKER_TLS: plain = '' } = machine.env;
  if (host === '') return NOT_SET;
  const secured = verify !== '' || plain !== '';
  const folder = machine.env['DOCKER_CERT_PATH'] ?? configFolder(machine);
  return parseHost(host, secured ? await readTls(machine, folder, verify !== '') : null);
}

const Config = z.object({ currentContext: z.string().optional() });
const Context = z.object({
  Endpoints: z.object({
    docker: z.object({ Host: z.string().optional(), SkipTLSVerify: z.boolean().optional() }),
  }),
});

async function byContext(machine: Machine): Promise<Finding> {
  const folder = configFolder(machine);
  const config = readJson(Config, await machine.read(path.join(folder, 'config.json')));
  const name = machine.env['DOCKER_CONTEXT'] || config?.currentContext || 'default';
  if (name === 'default') return NOT_SET;
  const id = digestOf(name);
  const meta = path.join(folder, 'contexts/meta', id, 'meta.json');
  const endpoint = readJson(Context, await machine.read(meta))?.Endpoints.docker;
  const host = endpoint?.Host ?? '';
  if (host === '') return { kind: 'refused', reason: `"${name}" is chosen, but ${meta} names no engine` };
  const tls = await readTls(machine, path.join(folder, 'contexts/tls', id, 'docker'), endpoint?.SkipTLSVerify !== true);
  return parseHost(host, tls.ca === undefined && tls.cert === undefined ? null : tls);
}

const configFolder = ({ env, home }: Machine): string => env['DOCKER_CONFIG'] || path.join(home, '.docker');

async function readTls({ read }: Machine, folder: string, verify: boolean): Promise<TlsFiles> {
  const [ca, cert, key] = await Promise.all(
    ['ca.pem', 'cert.pem', 'key.pem'].map((name) => read(path.join(folder, name))),
  );
  return {
    verify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}
