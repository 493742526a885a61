import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject, Inspected } from '../support/container-project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const GIB = 1024 ** 3;
/** A volume without a name of ours, in every container. */
const TERMINALS = '/dev/pts';
/** In the names of files that must not be visible inside. */
const MARKER = `private-${randomUUID()}`;
const PRIVATE = ['.ssh', '.aws', '.config', '.claude'];
/** The task goes on when the test has looked. */
const WAIT = 'until test -e go; do sleep 0.05; done; rm go';
/** What a task finds out about its own container. */
const LOOK = `{
  echo "user $(id -u):$(id -g)"
  grep -E "^(CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\\t"
  for f in / /etc /usr/local/bin /opt/mahabharatha /run/mahabharatha/inbox /run/mahabharatha/shared; do
    touch "$f/x" 2> /dev/null && echo "may write $f"
  done
  echo "mounts" $(awk '{ print $5 }' /proc/self/mountinfo | grep -vE "^/(proc|sys|dev)(/|$)|/docker-init$" | sort)
  echo "network" $(ls /sys/class/net)
  echo "localhost" $(getent ahosts localhost | cut -d " " -f 1 | sort -u)
  echo "itself" $(hostname) $(getent hosts "$(hostname)" | cut -d " " -f 1)
  echo "engine" $(ls /var/run/docker.sock /run/docker.sock 2> /dev/null)
  echo "homes" $(ls -A "$USERS_HOME" "$USERS_HOME/.ssh" /root/.ssh ~/.ssh ~/.aws ~/.config 2> /dev/null)
  echo "found" $(find / -name "*$MARKER*" 2> /dev/null)
} > facts.txt`;

describe.skipIf(docker.why !== '')(`the limits of a worker's container${whySkipped}`, () => {
  let project: ContainerProject;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    live?.child.kill();
    await live?.end;
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  const inWorktree = (file: string): string =>
    path.relative(project.folder, project.inWorkers('login', '0', 'mahabharatha-worker-0', file));

  const inHome = (...parts: string[]): string => path.join(project.env['HOME'] ?? '', ...parts);

  /** Starts the run and returns its containers when the worker waits to be looked at. */
  async function startAndLook(): Promise<{ worker: Inspected; egress: Inspected | undefined }> {
    live = project.start('kurukshetra', '--workers', '1');
    await waitUntil('the task runs', async () => {
      if (live?.child.exitCode !== null) throw new Error(live?.output());
      return (await project.read(inWorktree('ready')).catch(() => '')) !== '';
    });
    const ofRole = (role: string): Inspected | undefined =>
      project.containers().find(({ Config }) => Config.Labels['mahabharatha.role'] === role);
    const worker = ofRole('worker');
    if (worker === undefined) throw new Error('there is no worker');
    return { worker, egress: ofRole('egress') };
  }

  async function goOn(): Promise<string> {
    await project.write(inWorktree('go'), '');
    const { exit, stdout, stderr } = (await live?.end) ?? {};
    expect({ exit, said: exit === 0 ? '' : `${stdout}${stderr}` }).toEqual({ exit: 0, said: '' });
    return project.git('show', 'mahabharatha/login/integration:facts.txt');
  }

  it('TC-005 are as documented, seen from outside and from inside', async () => {
    // All of it is the default.
    project = await createContainerProject({ container: 'caches: []' });
    for (const folder of PRIVATE) {
      await mkdir(inHome(folder), { recursive: true });
      await writeFile(inHome(folder, MARKER), '');
    }
    const known = `USERS_HOME='${inHome()}'; MARKER=${MARKER}`;
    const run = `echo yes > ready; ${WAIT}; rm ready; ${known}; ${LOOK}`;
    await project.graph('login', [{ id: 'A', create: ['facts.txt'], run }]);

    const { worker, egress } = await startAndLook();

    const { runId } = await project.state();
    for (const container of [worker, egress]) {
      expect(container?.Config.User).toMatch(/^\d{3,}:\d+$/);
      expect(container?.HostConfig).toMatchObject({
        CapDrop: ['ALL'],
        CapAdd: null,
        SecurityOpt: ['no-new-privileges', expect.stringMatching(/^seccomp=\{"defaultAction":"SCMP_ACT_ERRNO"/)],
        ReadonlyRootfs: true,
        Privileged: false,
        // The worker image has an init of its own, which no task can trace.
        Init: container === egress,
        AutoRemove: true,
        PidMode: '',
        IpcMode: 'private',
        Ulimits: expect.arrayContaining([{ Name: 'fsize', Hard: expect.any(Number), Soft: expect.any(Number) }]),
        PortBindings: {},
        Binds: null,
      });
      expect(container?.HostConfig['Devices'] ?? []).toEqual([]);
      expect(container?.Config.Labels).toMatchObject({
        'mahabharatha.run': runId,
        'mahabharatha.feature': 'login',
        'mahabharatha.repo': project.folder,
      });
    }
    expect(worker.Name).toMatch(/^\/mahabharatha-worker-0/);
    expect(worker.Config.Labels).toMatchObject({ 'mahabharatha.worker': '0', 'mahabharatha.role': 'worker' });
    expect(worker.HostConfig).toMatchObject({
      PidsLimit: 512,
      Memory: 4 * GIB,
      MemorySwap: 4 * GIB,
      NanoCpus: 2e9,
      NetworkMode: 'none',
    });
    expect(worker.Config).toMatchObject({ NetworkDisabled: true });
    expect(Object.keys(worker.NetworkSettings.Networks)).toEqual([]);
    const own = project.inWorkers('login');
    expect(mountsOf(worker)).toEqual([
      `bind ${own}/0/git -> /gitdir rw`,
      `bind ${own}/0/inbox -> /run/mahabharatha/inbox ro`,
      `bind ${own}/0/inbox/hosts -> /etc/hosts ro`,
      `bind ${own}/0/mahabharatha-worker-0 -> /workspace rw`,
      `bind ${own}/0/outbox -> /run/mahabharatha/outbox rw`,
      `bind ${own}/shared -> /run/mahabharatha/shared ro`,
      `bind ${project.folder}/.git/objects -> /objects/0 ro`,
      `volume mahabharatha-egress-${runId} -> /run/mahabharatha/egress ro`,
    ]);
    expect(Object.keys(worker.HostConfig['Tmpfs'] as object).toSorted()).toEqual(['/home/worker', '/tmp']);
    expect(egress?.HostConfig).toMatchObject({ NetworkMode: 'bridge' });
    expect(mountsOf(egress)).toEqual([
      `bind ${own}/shared -> /run/mahabharatha/shared ro`,
      `volume mahabharatha-egress-${runId} -> /run/mahabharatha/egress rw`,
    ]);

    expect((await goOn()).trim().split('\n')).toEqual([
      `user ${worker.Config.User}`,
      'CapEff:0000000000000000',
      'CapBnd:0000000000000000',
      'NoNewPrivs:1',
      'Seccomp:2',
      // The engine puts the hostname into every container.
      'mounts / /etc/hostname /etc/hosts /gitdir /home/worker /objects/0 /run/mahabharatha/egress ' +
        '/run/mahabharatha/inbox /run/mahabharatha/outbox /run/mahabharatha/shared /tmp /workspace',
      'network lo',
      'localhost 127.0.0.1',
      'itself worker-0 127.0.1.1',
      'engine',
      'homes',
      'found',
    ]);
  });

  it('are those of the configuration; a mount of the user is there, read-only by default', async () => {
    project = await createContainerProject({
      container: [
        'network: open',
        'memory: 512m',
        'cpus: 0.5',
        'pids: 100',
        'tmpfs: 64m',
        'mounts:',
        '  - { source: ../outside/data, target: /data }',
        '  - { source: ~/shared, target: /mnt/shared, read_only: false }',
      ].join('\n'),
    });
    await project.allowMounts(project.outside, '{ folder: ~/shared, writable: true }');
    await mkdir(path.join(project.outside, 'data'));
    await writeFile(path.join(project.outside, 'data', 'there'), 'as it is\n');
    await mkdir(inHome('shared'));
    execFileSync('chmod', ['777', inHome('shared')]);
    const look = "cat /data/there; touch /data/new 2>&1; df -k /tmp ~ | awk 'NR > 1 { print $2 }'; ls /sys/class/net";
    const run = `echo yes > ready; ${WAIT}; rm ready; { ${look}; } > facts.txt; echo mine > /mnt/shared/new`;
    await project.graph('login', [{ id: 'A', create: ['facts.txt'], run }]);

    const { worker, egress } = await startAndLook();

    expect(egress).toBeUndefined();
    expect(worker.HostConfig).toMatchObject({
      PidsLimit: 100,
      Memory: 512 * 1024 ** 2,
      MemorySwap: 512 * 1024 ** 2,
      NanoCpus: 5e8,
      NetworkMode: 'bridge',
    });
    expect(mountsOf(worker)).toEqual(
      expect.arrayContaining([
        `bind ${path.join(project.outside, 'data')} -> /data ro`,
        `bind ${inHome('shared')} -> /mnt/shared rw`,
      ]),
    );
    expect((await goOn()).trim().split('\n')).toEqual([
      'as it is',
      expect.stringMatching(/^touch: .*Read-only file system$/),
      '65536',
      '65536',
      'eth0',
      'lo',
    ]);
    expect(await project.at(inHome('shared')).read('new')).toBe('mine\n');
  });
});

function mountsOf(container: Inspected | undefined): string[] {
  const mounts = (container?.Mounts ?? []) as readonly (Inspected['Mounts'][number] & { readonly Name?: string })[];
  return mounts
    .filter(({ Destination }) => Destination !== TERMINALS)
    .map(({ Type, Name, Source, Destination, RW }) => `${Type} ${Name ?? Source} -> ${Destination} ${RW ? 'rw' : 'ro'}`)
    .toSorted();
}
