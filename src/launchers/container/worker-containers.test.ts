import { expect, it } from 'vitest';
import type { WorkerSpec } from '../launcher.ts';
import { containerSpec } from '../../containers/start-container.ts';
import { egressVolume } from '../../containers/egress-key.ts';
import type { ContainerSpec, Engine } from '../../engines/index.ts';
import { namesOf, workerWish } from './container-launcher.ts';
import type { ContainerSettings } from './settings.ts';

const SPEC: WorkerSpec = {
  runId: 'run-1',
  feature: 'login',
  worker: 3,
  session: '0123456789abcdef',
  worktree: '/r/tree',
  layers: null,
  privateGit: { gitDir: '/r/git', objects: ['/r/.git/objects', '/other/objects'] },
  inbox: '/r/inbox',
  outbox: '/r/outbox',
  shared: '/r/shared',
  log: '/r/log',
  env: { OWN: 'value', ANTHROPIC_API_KEY: 'secret' },
};

const SETTINGS: ContainerSettings = {
  owner: 'run',
  image: 'image',
  leaseMs: 600_000,
  repo: '/r',
  uid: 1000,
  gid: 1001,
  memoryBytes: 1,
  cpus: 2,
  pids: 3,
  tmpfsBytes: 4,
  diskBytes: 5,
  network: 'none',
  egress: {
    program: Promise.resolve({ command: [], env: {} }),
    image: 'image',
    uid: 1000,
    gid: 1001,
    runtime: null,
    access: null,
    env: Promise.resolve({}),
  },
  mounts: [{ kind: 'bind', source: '/data', target: '/data', readOnly: true }],
  caches: [{ volume: 'cache', labels: {}, target: '/caches/npm', env: { npm_config_cache: '/caches/npm' } }],
  runtime: null,
  secrets: [],
  accesses: new Map([['mine', { agent: { env: { KEY: 'secret' }, files: [] }, secrets: ['secret'], injected: false }]]),
  withheld: [],
};

const specOf = (
  settings: ContainerSettings,
  masked: readonly number[] = [],
  imageEnv: Readonly<Record<string, string>> = {},
): ContainerSpec =>
  containerSpec('name', workerWish(SPEC, { engine: {} as Engine, settings, masked, attached: () => undefined }), {
    env: imageEnv,
    volumes: [],
  });

const mountsOf = (settings: ContainerSettings, masked: readonly number[] = []): string[] =>
  specOf(settings, masked).mounts.map((mount) => {
    if (mount.kind === 'tmpfs') return `tmpfs ${mount.target} ${mount.mode.toString(8)} ${mount.uid}:${mount.gid}`;
    if (mount.kind === 'overlay') return `overlay of ${mount.lower.join(' ')} ${mount.upper} ${mount.target}`;
    const from = mount.kind === 'bind' ? mount.source : mount.name;
    return `${from} ${mount.target} ${mount.readOnly ? 'read' : 'write'}`;
  });

it('a worker may write its worktree, git directory, outbox and caches; everything else it may only read', () => {
  expect(mountsOf(SETTINGS, [1])).toEqual([
    '/r/tree /workspace write',
    '/r/git /gitdir write',
    '/r/.git/objects /objects/0 read',
    '/other/objects /objects/1 read',
    '/r/inbox/empty /objects/1/info/alternates read',
    '/r/inbox /run/mahabharatha/inbox read',
    '/r/outbox /run/mahabharatha/outbox write',
    '/r/shared /run/mahabharatha/shared read',
    '/r/inbox/hosts /etc/hosts read',
    'tmpfs /tmp 1777 1000:1001',
    'tmpfs /home/worker 700 1000:1001',
    'cache /caches/npm write',
    '/data /data read',
    `${egressVolume('run-1')} /run/mahabharatha/egress read`,
  ]);
});

it('a worker without a way out has no volume of an egress proxy', () => {
  expect(mountsOf({ ...SETTINGS, egress: null }).join('\n')).not.toContain('egress');
});

it("the engine shows nothing that the worker's tasks are given", () => {
  const shown = JSON.stringify(specOf(SETTINGS));
  expect(shown).not.toMatch(/secret|ANTHROPIC|OWN/);
});

it('the worker program has none of the variables that its image sets, save its own', () => {
  const imageEnv = { NODE_OPTIONS: '--require=/planted.cjs', PATH: '/planted', HOME: '/root' };
  expect(specOf(SETTINGS, [], imageEnv).env).toMatchObject({
    NODE_OPTIONS: null,
    PATH: expect.stringMatching(/^\/usr\/local\/sbin:/),
    HOME: '/home/worker',
  });
});

it('its name has a suffix only when it must', () => {
  expect(namesOf(SPEC)).toEqual([
    'mahabharatha-worker-3',
    'mahabharatha-worker-3-run-1',
    'mahabharatha-worker-3-run-1-01234567',
  ]);
});
