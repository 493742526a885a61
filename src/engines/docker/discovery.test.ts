import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { discover } from './discovery.ts';
import { describeEndpoint } from './endpoint.ts';
import type { DockerEndpoint } from './endpoint.ts';

interface World {
  readonly env?: Record<string, string>;
  readonly platform?: NodeJS.Platform;
  readonly files?: Record<string, string>;
  /** The places where an engine answers. */
  readonly live?: readonly string[];
  /** The places where there is a socket, and no engine answers. */
  readonly stopped?: readonly string[];
}

interface Looked {
  readonly found: string | undefined;
  readonly endpoint: DockerEndpoint | undefined;
  readonly lines: readonly string[];
  readonly tried: readonly string[];
  readonly silent: readonly string[];
}

async function look({ env = {}, platform = 'linux', files = {}, live = [], stopped = [] }: World): Promise<Looked> {
  const machine = { env, platform, home: '/home/ann', read: async (file: string) => files[file] };
  const discovery = await discover(machine, async (endpoint) => {
    const place = describeEndpoint(endpoint);
    return live.includes(place)
      ? { answers: true, engine: 'Docker 28' }
      : { answers: false, reason: `${place}: there is no such socket`, absent: !stopped.includes(place) };
  });
  const { endpoint } = discovery;
  return { ...discovery, found: endpoint === undefined ? undefined : describeEndpoint(endpoint) };
}

const USUAL = '/var/run/docker.sock';
const contextId = (name: string): string => createHash('sha256').update(name).digest('hex');
const metaFile = (name: string, folder = '/home/ann/.docker'): string =>
  `${folder}/contexts/meta/${contextId(name)}/meta.json`;
const meta = (host: string): string =>
  JSON.stringify({ Name: 'x', Metadata: {}, Endpoints: { docker: { Host: host, SkipTLSVerify: false } } });
const current = (name: string): string => JSON.stringify({ auths: {}, currentContext: name });

const keys = (folder: string) => ({
  [`${folder}/ca.pem`]: 'CA',
  [`${folder}/cert.pem`]: 'CERT',
  [`${folder}/key.pem`]: 'KEY',
});

describe('looking for an engine', () => {
  it.each<[string, World, string | undefined]>([
    ['the usual socket', { live: [USUAL] }, USUAL],
    ['none', {}, undefined],
    ['DOCKER_HOST first', { env: { DOCKER_HOST: 'unix:///my.sock' }, live: [USUAL, '/my.sock'] }, '/my.sock'],
    ['DOCKER_HOST or nothing', { env: { DOCKER_HOST: 'unix:///my.sock' }, live: [USUAL] }, undefined],
    ['an address', { env: { DOCKER_HOST: 'tcp://box:1234' }, live: ['tcp://box:1234'] }, 'tcp://box:1234'],
    ['an address without port', { env: { DOCKER_HOST: 'tcp://box' }, live: ['tcp://box:2375'] }, 'tcp://box:2375'],
    ['an address in short', { env: { DOCKER_HOST: 'box:77' }, live: ['tcp://box:77'] }, 'tcp://box:77'],
    ['an address of version 6', { env: { DOCKER_HOST: 'tcp://[::1]:77' }, live: ['tcp://::1:77'] }, 'tcp://::1:77'],
    [
      'an address with TLS',
      { env: { DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1' }, live: ['tcp://box:2376 (TLS)'] },
      'tcp://box:2376 (TLS)',
    ],
    ['nothing behind SSH', { env: { DOCKER_HOST: 'ssh://me@box' }, live: [USUAL] }, undefined],
    ['nothing of an unknown kind', { env: { DOCKER_HOST: 'fd://3' }, live: [USUAL] }, undefined],
    ['https', { env: { DOCKER_HOST: 'https://box' }, live: ['tcp://box:2376 (TLS)'] }, 'tcp://box:2376 (TLS)'],
    ['nothing below a path', { env: { DOCKER_HOST: 'tcp://box:1/x' }, live: [USUAL] }, undefined],
    [
      'the current context',
      {
        files: { '/home/ann/.docker/config.json': current('colima'), [metaFile('colima')]: meta('unix:///c.sock') },
        live: [USUAL, '/c.sock'],
      },
      '/c.sock',
    ],
    [
      'the current context or nothing',
      {
        files: { '/home/ann/.docker/config.json': current('colima'), [metaFile('colima')]: meta('unix:///c.sock') },
        live: [USUAL],
      },
      undefined,
    ],
    [
      'DOCKER_CONTEXT before the current context, in DOCKER_CONFIG',
      {
        env: { DOCKER_CONTEXT: 'b', DOCKER_CONFIG: '/etc/d' },
        files: { '/etc/d/config.json': current('a'), [metaFile('b', '/etc/d')]: meta('unix:///b.sock') },
        live: ['/b.sock'],
      },
      '/b.sock',
    ],
    [
      'DOCKER_HOST before a context',
      { env: { DOCKER_CONTEXT: 'b', DOCKER_HOST: 'unix:///my.sock' }, live: ['/my.sock'] },
      '/my.sock',
    ],
    ['the default context is no context', { env: { DOCKER_CONTEXT: 'default' }, live: [USUAL] }, USUAL],
    ['a context that is missing', { env: { DOCKER_CONTEXT: 'gone' }, live: [USUAL] }, undefined],
    [
      'the usual socket beside a broken config',
      { files: { '/home/ann/.docker/config.json': '{' }, live: [USUAL] },
      USUAL,
    ],
    [
      'rootless Docker',
      { env: { XDG_RUNTIME_DIR: '/run/user/7' }, live: ['/run/user/7/docker.sock'] },
      '/run/user/7/docker.sock',
    ],
    [
      'Docker Desktop',
      { platform: 'darwin', live: ['/home/ann/.docker/run/docker.sock'] },
      '/home/ann/.docker/run/docker.sock',
    ],
    [
      'Docker Desktop on Linux',
      { live: ['/home/ann/.docker/desktop/docker.sock'] },
      '/home/ann/.docker/desktop/docker.sock',
    ],
    [
      'Colima',
      { platform: 'darwin', live: ['/home/ann/.colima/default/docker.sock'] },
      '/home/ann/.colima/default/docker.sock',
    ],
    [
      'OrbStack',
      { platform: 'darwin', live: ['/home/ann/.orbstack/run/docker.sock'] },
      '/home/ann/.orbstack/run/docker.sock',
    ],
    [
      'rootless Podman',
      { env: { XDG_RUNTIME_DIR: '/run/user/7' }, live: ['/run/user/7/podman/podman.sock'] },
      '/run/user/7/podman/podman.sock',
    ],
    ['Podman', { live: ['/run/podman/podman.sock'] }, '/run/podman/podman.sock'],
    ['no Linux socket on a Mac', { platform: 'darwin', live: ['/run/podman/podman.sock'] }, undefined],
    ['the first of several', { live: ['/run/podman/podman.sock', USUAL] }, USUAL],
  ])('finds %s', async (_, world, place) => {
    expect((await look(world)).found).toBe(place);
  });

  it('reports each place of the search, and its answer', async () => {
    const { lines, tried } = await look({ platform: 'darwin', live: ['/home/ann/.colima/default/docker.sock'] });
    expect(lines).toEqual([
      'DOCKER_HOST: not set',
      'docker context: not set',
      'the usual socket: /var/run/docker.sock: there is no such socket',
      'rootless Docker: not on this machine',
      'Docker Desktop: /home/ann/.docker/run/docker.sock: there is no such socket',
      'Docker Desktop on Linux: /home/ann/.docker/desktop/docker.sock: there is no such socket',
      'Colima: /home/ann/.colima/default/docker.sock: Docker 28',
    ]);
    expect(tried).toEqual(lines.filter((line) => line.includes('/')));
  });

  it('tells an engine that is stopped from none at all', async () => {
    expect((await look({})).silent).toEqual([]);
    expect((await look({ stopped: [USUAL] })).silent).toEqual([`the usual socket: ${USUAL}: there is no such socket`]);
    expect((await look({ env: { DOCKER_HOST: 'unix:///my.sock' } })).silent).toEqual([
      'DOCKER_HOST: /my.sock: there is no such socket',
    ]);
    expect((await look({ env: { DOCKER_HOST: 'ssh://me@box' } })).silent).toHaveLength(1);
    expect((await look({ env: { DOCKER_CONTEXT: 'gone' } })).silent).toHaveLength(1);
  });

  it('says why a place is not asked', async () => {
    const { tried } = await look({ env: { DOCKER_HOST: 'ssh://me@box' } });
    expect(tried).toEqual([expect.stringContaining('DOCKER_HOST: "ssh://me@box": engines behind SSH are not')]);
    expect((await look({ env: { DOCKER_CONTEXT: 'gone' } })).tried.join()).toContain('"gone" is chosen, but');
    expect((await look({ env: { DOCKER_HOST: 'unix://' } })).tried.join()).toContain('names no socket');
  });

  it("uses the keys that belong to the user's choice", async () => {
    const live = ['tcp://box:2376 (TLS)'];
    const all = { ca: 'CA', cert: 'CERT', key: 'KEY' };
    const env = { DOCKER_HOST: 'tcp://box', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/certs' };
    expect((await look({ env, live, files: keys('/certs') })).endpoint).toMatchObject({
      tls: { ...all, verify: true },
    });
    const files = {
      '/home/ann/.docker/config.json': current('far'),
      [metaFile('far')]: meta('tcp://box:2376'),
      ...keys(`/home/ann/.docker/contexts/tls/${contextId('far')}/docker`),
    };
    expect((await look({ live, files })).endpoint).toMatchObject({ host: 'box', tls: { ...all, verify: true } });
  });
});
