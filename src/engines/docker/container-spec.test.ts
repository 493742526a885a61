import { expect, it } from 'vitest';
import type { ContainerSpec } from '../engine.ts';
import { toCreateBody } from './container-spec.ts';
import { SECCOMP_PROFILE, SECCOMP_WITHOUT_IPC_OBJECTS } from './seccomp.ts';

const SPEC: ContainerSpec = {
  name: 'mahabharatha-worker-0',
  image: 'worker:1',
  command: ['node', '/worker.js'],
  env: { HOME: '/home/worker', WORDS: 'a=b c' },
  uid: 1000,
  gid: 1001,
  workdir: '/workspace',
  labels: { 'mahabharatha.run': 'r1' },
  mounts: [
    { kind: 'bind', source: '/repo/my tree', target: '/workspace', readOnly: false },
    { kind: 'bind', source: '/repo/.git/objects', target: '/repo/.git/objects', readOnly: true },
    { kind: 'volume', name: 'npm-cache', target: '/cache', readOnly: false },
    { kind: 'tmpfs', target: '/tmp', bytes: 1_048_576, mode: 0o1777, uid: 1000, gid: 1001, exec: true },
    { kind: 'tmpfs', target: '/run/secrets', bytes: 4096, mode: 0o700, uid: 1000, gid: 1001, exec: false },
  ],
  network: 'none',
  memoryBytes: 4_294_967_296,
  cpus: 1.5,
  pids: 512,
  fileBytes: 5_000_000,
  stdin: true,
  runtime: null,
  logBytes: 10_000_001,
};

const TERMINALS = {
  Type: 'volume',
  Target: '/dev/pts',
  ReadOnly: false,
  VolumeOptions: {
    NoCopy: true,
    DriverConfig: {
      Name: 'local',
      Options: {
        type: 'devpts',
        device: 'devpts',
        o: 'newinstance,nosuid,noexec,ptmxmode=0666,mode=0620,max=16',
      },
    },
  },
};

it('the body of a request to create a container', () => {
  expect(toCreateBody(SPEC)).toEqual({
    Image: 'worker:1',
    Entrypoint: ['node', '/worker.js'],
    Cmd: [],
    Healthcheck: { Test: ['NONE'] },
    Env: ['HOME=/home/worker', 'WORDS=a=b c'],
    User: '1000:1001',
    WorkingDir: '/workspace',
    NetworkDisabled: true,
    Labels: { 'mahabharatha.run': 'r1' },
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      Init: true,
      AutoRemove: true,
      Privileged: false,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${SECCOMP_PROFILE}`],
      ReadonlyRootfs: true,
      IpcMode: 'private',
      NetworkMode: 'none',
      PidsLimit: 512,
      Memory: 4_294_967_296,
      MemorySwap: 4_294_967_296,
      Ulimits: [
        { Name: 'fsize', Soft: 5_000_000, Hard: 5_000_000 },
        { Name: 'core', Soft: 1, Hard: 1 },
        { Name: 'sigpending', Soft: 4096, Hard: 4096 },
        { Name: 'msgqueue', Soft: 204_800, Hard: 204_800 },
      ],
      NanoCpus: 1_500_000_000,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '5000001', 'max-file': '2' } },
      Tmpfs: {
        '/tmp': 'rw,exec,nosuid,nodev,size=1048576,mode=1777,nr_inodes=1024,uid=1000,gid=1001',
        '/run/secrets': 'rw,noexec,nosuid,nodev,size=4096,mode=700,nr_inodes=1024,uid=1000,gid=1001',
      },
      Mounts: [
        TERMINALS,
        {
          Type: 'bind',
          Source: '/repo/my tree',
          Target: '/workspace',
          ReadOnly: false,
          BindOptions: { Propagation: 'rprivate', CreateMountpoint: false, NonRecursive: false },
        },
        {
          Type: 'bind',
          Source: '/repo/.git/objects',
          Target: '/repo/.git/objects',
          ReadOnly: true,
          BindOptions: { Propagation: 'rprivate', CreateMountpoint: false, NonRecursive: true },
        },
        { Type: 'volume', Source: 'npm-cache', Target: '/cache', ReadOnly: false },
      ],
    },
  });
});

it('what the spec leaves out is left to image and engine', () => {
  const body = toCreateBody({ ...SPEC, command: [], stdin: false, logBytes: null, mounts: [], network: 'bridge' });
  expect(body).not.toHaveProperty('Entrypoint');
  expect(body).not.toHaveProperty('Cmd');
  expect(body).toMatchObject({ OpenStdin: false, StdinOnce: false, AttachStdin: false });
  expect(body.HostConfig).toMatchObject({
    Init: false,
    NetworkMode: 'bridge',
    LogConfig: { Type: 'none', Config: {} },
    Mounts: [TERMINALS],
  });
  expect(body.HostConfig).not.toHaveProperty('Runtime');
  const other = toCreateBody({ ...SPEC, mounts: [], runtime: 'runsc' });
  expect(other.HostConfig).toMatchObject({ Runtime: 'runsc', NetworkMode: 'none', Mounts: [] });
  expect(other.NetworkDisabled, 'who brings up its loopback is the engine').toBe(false);
});

it('a container of several users makes no objects that outlive them', () => {
  expect(toCreateBody({ ...SPEC, withoutIpcObjects: true }).HostConfig.SecurityOpt).toEqual([
    'no-new-privileges',
    `seccomp=${SECCOMP_WITHOUT_IPC_OBJECTS}`,
  ]);
  const { syscalls } = JSON.parse(SECCOMP_WITHOUT_IPC_OBJECTS) as { syscalls: { names: string[]; action: string }[] };
  for (const call of ['mq_open', 'msgget', 'semget', 'shmget'])
    expect(syscalls.filter(({ names }) => names.includes(call)).map(({ action }) => action)).toEqual([
      'SCMP_ACT_ERRNO',
    ]);
});

it.each([
  [0, 1000],
  [1000, 0],
  [-1, 1000],
  [1000.5, 1000],
  [Number.NaN, 1000],
])('no container runs as %s:%s', (uid, gid) => {
  expect(() => toCreateBody({ ...SPEC, uid, gid })).toThrow(/mahabharatha-worker-0 would run as/);
});
