import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import type { ContainerSpec, Mount } from '../../src/engines/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { MARK, newBuild, newSpec, removeAll, startContainer } from '../support/containers.ts';
import { dockerForTests, forgetBuilds } from '../support/docker.ts';
import { startNode } from '../support/node-process.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';
import { untilItWaits } from './engine-contract.ts';

const { engine, image, why } = await dockerForTests();
const tags: string[] = [];
const MEGABYTE = 1_048_576;

interface Ended {
  readonly code: number | null;
  readonly oomKilled: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

async function runShell(shell: string, more: Partial<ContainerSpec> = {}): Promise<Ended> {
  const { id, out, closed } = await startContainer(engine, newSpec(image, shell, { stdin: false, ...more }));
  const [exit] = await Promise.all([engine.waitContainer(id), closed]);
  return { ...exit, ...out };
}

const tmpfs = (target: string, megabytes: number, exec = false): Mount => ({
  kind: 'tmpfs',
  target,
  bytes: megabytes * MEGABYTE,
  mode: 0o700,
  uid: 4711,
  gid: 4712,
  exec,
});

/** Engines say "none of these" in different ways. */
function leftOpen(config: object | undefined): { devices?: unknown; ports?: unknown } {
  const { Devices, PortBindings } = config as { Devices: unknown; PortBindings: unknown };
  return {
    ...(Devices === null ? {} : { devices: Devices }),
    ...(PortBindings === null ? {} : { ports: PortBindings }),
  };
}

/** A folder that a container's user may write. */
function openFolder(): string {
  const folder = path.join(tempFolder(), 'a folder ü');
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  chmodSync(path.dirname(folder), 0o755);
  return folder;
}

describe.skipIf(why !== '')(`a container on a real engine${why === '' ? '' : ` (${why})`}`, () => {
  afterAll(async () => {
    await removeAll(engine, tags);
    forgetBuilds(MARK);
  });

  it('is locked down in every setting', async () => {
    const folder = openFolder();
    const mounts: readonly Mount[] = [
      { kind: 'bind', source: folder, target: '/in', readOnly: true },
      tmpfs('/tmp', 16, true),
    ];
    const spec = newSpec(image, 'echo ready; sleep 60', { mounts, cpus: 1.5, logBytes: 4_000_000 });
    const container = await startContainer(engine, spec);
    await container.printed('ready');
    const inspected = execFileSync('docker', ['inspect', container.id], { encoding: 'utf8' });
    const [{ Config, HostConfig, Mounts, NetworkSettings }] = JSON.parse(inspected) as [Record<string, object>];
    expect(Config).toMatchObject({ NetworkDisabled: true });
    expect(Config).toMatchObject({ User: '4711:4712', OpenStdin: true, StdinOnce: true, Tty: false, Labels: MARK });
    expect(HostConfig).toMatchObject({
      AutoRemove: true,
      Init: true,
      Privileged: false,
      CapAdd: null,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', expect.stringMatching(/^seccomp=\{"defaultAction":"SCMP_ACT_ERRNO"/)],
      ReadonlyRootfs: true,
      PidsLimit: 50,
      Memory: 64_000_000,
      MemorySwap: 64_000_000,
      NanoCpus: 1_500_000_000,
      NetworkMode: 'none',
      IpcMode: 'private',
      PidMode: '',
      UTSMode: '',
      Binds: null,
      VolumesFrom: null,
      GroupAdd: null,
      LogConfig: { Type: 'json-file', Config: { 'max-size': '2000000', 'max-file': '2' } },
      Tmpfs: { '/tmp': 'rw,exec,nosuid,nodev,size=16777216,mode=700,nr_inodes=8192,uid=4711,gid=4712' },
    });
    expect({ devices: [], ports: {}, ...leftOpen(HostConfig) }).toEqual({ devices: [], ports: {} });
    // The engine lists them in no order.
    expect(Mounts).toHaveLength(2);
    expect(Mounts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ Type: 'volume', Driver: 'local', Destination: '/dev/pts' }),
        { Type: 'bind', Source: folder, Destination: '/in', Mode: '', RW: false, Propagation: 'rprivate' },
      ]),
    );
    expect(Object.keys((NetworkSettings as { Networks: object }).Networks)).toEqual([]);
  });

  it('has no capabilities, cannot get more rights, and sees no other processes', async () => {
    const { stdout } = await runShell(
      'id -u; id -g; id -G; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status; ps',
    );
    expect(stdout).toMatch(/^4711\n4712\n4712\n/);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) expect(stdout).toMatch(new RegExp(`Cap${set}:\\s0{16}\\n`));
    expect(stdout).toMatch(/NoNewPrivs:\s1\n/);
    expect(stdout).toMatch(/Seccomp:\s2\n/);
  });

  it('cannot write its root and its read-only mounts', async () => {
    const folder = openFolder();
    writeFileSync(path.join(folder, 'file'), 'precious');
    const mounts = [{ kind: 'bind', source: folder, target: '/in', readOnly: true }] as const;
    const tries = ['touch /x', 'touch /etc/x', 'echo x > /in/file', 'rm /in/file', 'touch /in/new', 'chmod 700 /in'];
    const shell = `cat /in/file; for n in ${tries.map((command) => `'${command}'`).join(' ')}; do bash -c "$n" && echo " did $n"; done`;
    const { stdout, stderr } = await runShell(shell, { mounts });
    expect(stdout).toBe('precious');
    expect(stderr.match(/Read-only file system/g)?.length).toBeGreaterThanOrEqual(4);
    expect(readFileSync(path.join(folder, 'file'), 'utf8')).toBe('precious');
  });

  it('can write a folder, a volume and a file system in memory', async () => {
    const folder = openFolder();
    const volume = `mahabharatha-test-${randomId()}`;
    await engine.createVolume(volume, MARK);
    const mounts: readonly Mount[] = [
      { kind: 'bind', source: folder, target: '/room', readOnly: false },
      { kind: 'volume', name: volume, target: '/tmp', readOnly: false },
      tmpfs('/run', 1, true),
    ];
    const shell = `echo yes > /room/file && echo yes > /tmp/file && printf '#!/bin/sh\\necho run' > /run/x && chmod +x /run/x && /run/x`;
    expect(await runShell(shell, { mounts })).toMatchObject({ code: 0, stdout: 'run\n', stderr: '' });
    expect(readFileSync(path.join(folder, 'file'), 'utf8')).toBe('yes\n');
    const readOnly = [{ kind: 'volume', name: volume, target: '/tmp', readOnly: true }] as const;
    const second = await runShell('cat /tmp/file; touch /tmp/file', { mounts: readOnly });
    expect(second).toMatchObject({ code: 1, stdout: 'yes\n', stderr: expect.stringContaining('Read-only') });
  });

  it('has a limit for files in memory, and may execute them only when that is set', async () => {
    const shell = `stat -c '%a %u %g' /t; head -c 3000000 /dev/zero > /t/big; stat -c %s /t/big; rm /t/big; cp /bin/true /t; /t/true`;
    const { code, stdout, stderr } = await runShell(shell, { mounts: [tmpfs('/t', 1)] });
    expect(stdout).toBe(`700 4711 4712\n${MEGABYTE}\n`);
    expect(stderr).toContain('No space left on device');
    expect(stderr).toContain('/t/true: Permission denied');
    expect(code).toBe(126);
  });

  it('has no network but its loopback, or a network of its own', async () => {
    const shell = 'ls /sys/class/net; tail -n +2 /proc/net/route | wc -l; cat /sys/class/net/lo/flags';
    expect((await runShell(shell)).stdout).toBe('lo\n0\n0x9\n');
    const { stdout } = await runShell(shell, { network: 'bridge' });
    expect(stdout).toMatch(/^eth0\nlo\n[1-9]/);
  });

  it('cannot start more processes than its limit', async () => {
    const { stdout, stderr } = await runShell(
      'for n in $(seq 100); do sleep 5 & done 2>/dev/null; echo; ls -d /proc/[0-9]* | wc -l; exit 0',
      { pids: 20 },
    );
    expect(`${stdout}${stderr}`).not.toMatch(/\n(2[1-9]|[3-9]\d|1\d\d)\n/);
  });

  it('is reported to have run out of memory when a child of it did, and only then', { retry: 4 }, async () => {
    const hungry = 'head -c 200000000 /dev/zero | tail > /dev/null';
    expect(await runShell(`(${hungry}); echo survived; exit 0`)).toMatchObject({ code: 0, oomKilled: true });
    expect(await runShell('kill -9 $$')).toMatchObject({ code: 137, oomKilled: false });
  });

  it('runs its command and not the entrypoint of its image', async () => {
    const plan = newBuild(image, ['ENTRYPOINT ["echo", "entry"]', 'CMD ["point"]']);
    tags.push(plan.tag);
    await engine.buildImage(plan, () => undefined);
    expect((await runShell('echo mine', { image: plan.tag })).stdout).toBe('mine\n');
    expect((await runShell('', { image: plan.tag, command: [] })).stdout).toBe('entry point\n');
  });

  it('that cannot start leaves nothing behind, and the error says why', async () => {
    const mounts = [tmpfs('/etc/passwd', 1)];
    const id = await engine.createContainer(newSpec(image, 'exit 0', { mounts }));
    await expect(engine.startContainer(id)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining('/etc/passwd'),
    });
    await waitUntil('it is gone', async () => (await engine.inspectContainer(id)) === undefined);
    expect(await engine.waitContainer(id)).toEqual({ code: null, oomKilled: false });
    for (const call of [() => engine.startContainer(id), () => engine.attach(id)]) {
      await expect(call()).rejects.toMatchObject({ code: 'ENGINE_FAILED', message: expect.stringContaining(id) });
    }
  });

  it('that floods one output is not blocked by the other, and its log keeps the end', async () => {
    const shell =
      'echo started >&2; head -c 20000000 /dev/zero | tr "\\0" "x" | fold -w 100; echo; echo the end; read line';
    const container = await startContainer(engine, newSpec(image, shell, { logBytes: 200_000 }));
    await container.printed('the end\n');
    let bytes = 0;
    let text = '';
    const add = (chunk: Buffer): void => {
      bytes += chunk.length;
      text = (text + chunk.toString()).slice(-20);
    };
    await waitUntil('the log has the end', async () => {
      bytes = 0;
      await engine.logs(container.id, { follow: false, tail: 'all' }, { stdout: add, stderr: add });
      return text.endsWith('the end\n');
    });
    expect(bytes).toBeLessThan(200_000);
    container.end();
    await engine.waitContainer(container.id);
  });

  it('has no log when none is wanted', async () => {
    const container = await startContainer(engine, newSpec(image, 'echo ready; read line', { logBytes: null }));
    await container.printed('ready');
    const sink = { stdout: () => undefined, stderr: () => undefined };
    const reading = engine.logs(container.id, { follow: false, tail: 'all' }, sink);
    await expect(reading).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    container.close();
  });

  it('ends when the process that holds its stdin is killed', async () => {
    const name = `mahabharatha-test-${randomId()}`;
    const holder = startNode(
      `const { findEngine } = await import(process.env.ENGINES);
       const engine = await findEngine(process.env);
       const id = await engine.createContainer(JSON.parse(process.env.SPEC));
       const { stdout, stderr } = await engine.attach(id);
       stderr.resume();
       stdout.on('data', (text) => console.log(id, String(text)));
       await engine.startContainer(id);
       await engine.waitContainer(id);`,
      { SPEC: JSON.stringify(newSpec(image, 'echo ready; cat', { name })), ENGINES: compileEngines() },
    );
    await holder.printed('ready');
    const id = holder.output().split(' ')[0] ?? '';
    const exit = engine.waitContainer(id);
    await untilItWaits(engine, id);
    expect(await engine.inspectContainer(id)).toMatchObject({ name, status: 'running' });
    process.kill(holder.pid, 'SIGKILL');
    expect(await exit).toMatchObject({ code: 0 });
    expect(await engine.inspectContainer(id)).toBeUndefined();
  });

  it('is built from exactly the given files, with their modes', async () => {
    const long = `${'folder with spaces/'.repeat(12)}grün.txt`;
    const copy = [
      'COPY . /in',
      'RUN cd /in && find . -type f -printf "%m %p\\n" | sort && cat "./bin/run" && /in/bin/run',
    ];
    const plan = newBuild(image, [...copy, 'ARG WORD', 'RUN echo "word: $WORD"']);
    const files = [
      ...plan.files,
      { path: 'bin/run', content: Buffer.from('#!/bin/sh\necho it runs\n'), mode: 0o755 },
      { path: long, content: Buffer.from('text'), mode: 0o640 },
    ];
    tags.push(plan.tag);
    const lines: string[] = [];
    await engine.buildImage({ ...plan, files, buildArgs: { WORD: 'a "b" ü' } }, (line) => lines.push(line));
    const wanted = ['644 ./Dockerfile', `640 ./${long}`, '755 ./bin/run', 'echo it runs', 'it runs'];
    expect(lines).toEqual(expect.arrayContaining(wanted));
    expect(lines).toContain('word: a "b" ü');
  });

  it('is not built from an invalid Dockerfile', async () => {
    const plan = newBuild(image, ['NONSENSE here']);
    const error = await engine.buildImage(plan, () => undefined).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'IMAGE_BUILD_FAILED', message: expect.stringMatching(/NONSENSE/i) });
  });

  it('is not built further when the signal fires', async () => {
    const controller = new AbortController();
    const plan = newBuild(image, ['RUN echo begun; sleep 30'], { signal: controller.signal, noCache: true });
    const building = engine.buildImage(plan, (line) => line === 'begun' && controller.abort(new Error('enough')));
    await expect(building).rejects.toThrow('enough');
    expect(await engine.inspectImage(plan.tag)).toBeUndefined();
  });
});

/** Bundles the sources for another process. */
function compileEngines(): string {
  const [root, folder] = [fileURLToPath(new URL('../../', import.meta.url)), tempFolder()];
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const places = ['--outDir', folder, '--tsBuildInfoFile', path.join(folder, 'build-info')];
  const args = [compiler, '--project', path.join(root, 'tsconfig.build.json'), '--noCheck', ...places];
  execFileSync(process.execPath, args);
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  return path.join(folder, 'engines/index.js');
}
