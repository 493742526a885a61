import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createAppleEngine } from '../../src/engines/index.ts';
import type { Engine } from '../../src/engines/index.ts';
import { APPLE_PROGRAM } from '../support/apple.ts';
import { newBuild, newSpec, removeAll, startContainer } from '../support/containers.ts';
import { dockerForTests } from '../support/docker.ts';
import { tempFolder } from '../support/temp-folder.ts';

const { image, why } = await dockerForTests();
/** Enough for a call that does not hang, on a busy machine. */
const LIMITS = { quickMs: 60_000, slowMs: 60_000, longMs: 60_000 };

const engineWith = (settings: Record<string, string>, limits = LIMITS): Engine =>
  createAppleEngine(APPLE_PROGRAM, { ...process.env, ...settings }, limits);

const spec = (shell: string, more: Parameters<typeof newSpec>[2] = {}): ReturnType<typeof newSpec> =>
  newSpec(image, shell, more);

describe("Apple's program in trouble", () => {
  it('that hangs is ended, whatever it was asked for', async () => {
    const hung = engineWith({ APPLE_HANG: '^(?!--version)' }, { quickMs: 3000, slowMs: 3000, longMs: 3000 });
    const calls: [string, () => Promise<unknown>][] = [
      ['tell its state', () => hung.info()],
      ['list images', () => hung.inspectImage('x')],
      ['list containers', () => hung.listContainers({})],
      ['inspect container x', () => hung.startContainer('x')],
      ['inspect container x', () => hung.waitContainer('x')],
      ['create volume x', () => hung.createVolume('x', {})],
      ['send SIGTERM to container x', () => hung.signalContainer('x', 'SIGTERM')],
      ['build image ', () => hung.buildImage(newBuild('x', []), () => undefined)],
      ['fetch image x', () => hung.pullImage('x', () => undefined)],
    ];
    for (const [words, call] of calls) {
      await expect(call()).rejects.toMatchObject({
        code: 'ENGINE_TIMEOUT',
        facts: { call: expect.stringContaining(words), place: APPLE_PROGRAM, waitedMs: 3000 },
      });
    }
  });

  it('that is not there, or whose services do not run, is an engine out of reach', async () => {
    const absent = createAppleEngine(path.join(tempFolder(), 'container'), process.env, LIMITS);
    await expect(absent.info()).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' });
    const stopped = engineWith({ APPLE_STOPPED: '1' });
    const sink = { stdout: () => undefined, stderr: () => undefined };
    const calls = [
      () => stopped.info(),
      () => stopped.listContainers({}),
      () => stopped.waitContainer('x'),
      () => stopped.createVolume('x', {}),
      () => stopped.buildImage(newBuild('x', []), () => undefined),
      () => stopped.logs('x', { follow: false, tail: 'all' }, sink),
    ];
    const message = expect.stringContaining('container system start');
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE', message });
  });

  it('that answers something unknown is not believed', async () => {
    const strange = engineWith({ APPLE_BABBLE: '.' });
    const calls = [
      () => strange.info(),
      () => strange.listContainers({}),
      () => strange.inspectContainer('x'),
      () => strange.listVolumes({}),
      () => strange.inspectImage('x'),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
  });

  it('that refuses an argument says so', async () => {
    const engine = engineWith({});
    await expect(engine.createVolume('-x', {})).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining("Unknown option '-x'"),
    });
  });
});

describe.skipIf(why !== '')(`containers of Apple's engine${why === '' ? '' : ` (${why})`}`, () => {
  const engine = engineWith({});
  afterAll(() => removeAll(engine, []));

  it('are known to be over when the program hangs at their end', async () => {
    const hanging = engineWith({ APPLE_HANGS_AT_END: '1' });
    const { id, out } = await startContainer(hanging, spec('echo out; exit 3'));
    expect(await hanging.waitContainer(id)).toEqual({ code: null, oomKilled: false });
    expect(out.stdout).toBe('out\n');
    expect(await hanging.inspectContainer(id)).toBeUndefined();
  });

  it('that cannot start leave nothing behind, and the error says why', async () => {
    const mounts = [{ kind: 'tmpfs', target: '/etc/passwd', bytes: 1, mode: 0, uid: 0, gid: 0, exec: false }] as const;
    const id = await engine.createContainer(spec('exit 0', { mounts }));
    await engine.attach(id);
    await expect(engine.startContainer(id)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining('/etc/passwd'),
    });
    expect(await engine.inspectContainer(id)).toBeUndefined();
    expect(await engine.waitContainer(id)).toEqual({ code: null, oomKilled: false });
    await expect(engine.attach(id)).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
      message: expect.stringContaining(id),
    });
  });

  it('are not attached to a second time, or started twice', async () => {
    const { id } = await startContainer(engine, spec('read line'));
    for (const call of [() => engine.attach(id), () => engine.startContainer(id)])
      await expect(call()).rejects.toMatchObject({ message: expect.stringContaining('has been started already') });
    await engine.removeContainer(id);
  });

  it('run one more program, with variables that no argument list shows', async () => {
    const { id } = await startContainer(engine, spec('read line', { env: { LEFT: 'x', GONE: 'y' } }));
    const env = { SECRET: 'a\n"b" = c', GONE: null, PATH: '/bin:/usr/bin' };
    const shell = 'echo "$SECRET,$LEFT,${GONE-none},$PATH,$PWD"; cat; echo err >&2; exit 7';
    const wish = { command: ['bash', '-c', shell], env, workdir: '/tmp', terminal: null } as const;
    const { stdin, stdout, stderr, exit } = await engine.execute(id, wish);
    const read = { out: '', err: '' };
    stdout.on('data', (chunk: Buffer) => (read.out += chunk.toString()));
    stderr.on('data', (chunk: Buffer) => (read.err += chunk.toString()));
    stdin.end('in\n');
    expect(await exit()).toBe(7);
    expect(read).toEqual({ out: 'a\n"b" = c,x,none,/bin:/usr/bin,/tmp\nin\n', err: 'err\n' });
    await engine.removeContainer(id);
    await expect(engine.execute(id, wish)).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
  });

  it('have no terminals and no other names, and the engine says so', async () => {
    const { id } = await startContainer(engine, spec('read line'));
    const terminal = { columns: 80, rows: 24 };
    const lacking = [
      () => engine.execute(id, { command: ['bash'], env: {}, workdir: '/', terminal }),
      () => engine.renameContainer(id, 'x'),
    ];
    for (const call of lacking) await expect(call()).rejects.toMatchObject({ code: 'ENGINE_FAILED' });
    await engine.removeContainer(id);
  });

  it('do not share a volume', async () => {
    const volume = `mahabharatha-test-${Date.now()}`;
    await engine.createVolume(volume, {});
    const mounts = [{ kind: 'volume', name: volume, target: '/v', readOnly: true }] as const;
    const first = await startContainer(engine, spec('read line', { mounts }));
    const second = startContainer(engine, spec('read line', { mounts }));
    await expect(second).rejects.toMatchObject({ code: 'ENGINE_FAILED', message: expect.stringContaining(volume) });
    await engine.removeContainer(first.id);
    await engine.removeVolume(volume);
  });

  it('are locked down as far as the program can', async () => {
    const tmpfs = {
      kind: 'tmpfs',
      target: '/t',
      bytes: 2 ** 20,
      mode: 0o700,
      uid: 4711,
      gid: 4712,
      exec: true,
    } as const;
    const tries =
      'id -u; id -g; grep -E "^Cap(Prm|Eff|Bnd)" /proc/self/status; touch /x; echo hi > /t/x && cat /t/x; ls /sys/class/net; ulimit -f';
    const { id, out } = await startContainer(engine, spec(tries, { mounts: [tmpfs] }));
    expect(await engine.waitContainer(id)).toMatchObject({ code: 0 });
    expect(out.stdout).toMatch(/^4711\n4712\n(Cap\w+:\s0{16}\n){3}hi\nlo\n\d+\n$/);
    expect(out.stderr).toContain('Read-only file system');
  });
});
