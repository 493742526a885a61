import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_RUNTIMES } from '../../src/config/index.ts';
import { inTime } from '../support/in-time.ts';
import { whyNoLanguages } from '../support/language-images.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const SECRET = 'planted-secret-91c4';
const MB = 1024 ** 2;

const TEMPLATES: Readonly<Record<string, { image: string; setup?: string; default_command: string }>> =
  DEFAULT_RUNTIMES;

/** Watches for changes as often as the kernel lets one user. */
const watch = (count: number, then: string): string => `python3 -c '
import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
made = [libc.inotify_init1(0) for _ in range(${count})]
print(sum(each > 0 for each in made), os.strerror(ctypes.get_errno()), flush=True)
${then}'`;

describe.skipIf(docker.why !== '')(`what a session has by default${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildWorkerImage();
    const python = whyNoLanguages === '' ? 'mahabharatha-python:bookworm' : docker.image;
    const images: Record<string, string> = { node: docker.image, python, shell: docker.image };
    const runtimes = Object.entries(TEMPLATES).map(
      ([name, template]) => `    default-${name}: ${JSON.stringify({ ...template, image: images[name] })}`,
    );
    served = await serveForTest({ runtimes: runtimes.join('\n'), env: { HOST_SECRET: SECRET } });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const create = (runtime = 'shell', more: object = {}): ReturnType<Served['ask']> =>
    served.ask('POST', '/v1/sessions', { project_id: 'proj_abc123', runtime_type: runtime, ...more });
  const open = async (...given: Parameters<typeof create>): Promise<string> => {
    const { status, body } = await create(...given);
    expect(status, JSON.stringify(body)).toBe(200);
    return `/v1/sessions/${String(body['session_id'])}`;
  };
  const exec = async (place: string, command: string, more: object = {}): Promise<Record<string, unknown>> =>
    (await served.ask('POST', `${place}/exec`, { command, ...more })).body;
  const close = (place: string): ReturnType<Served['ask']> => served.ask('DELETE', place);

  const runsDefault = async (runtime: string, files: Record<string, string>, before = 'true'): Promise<string> => {
    const place = await open(`default-${runtime}`);
    const sent = Object.entries(files).map(([path, content]) => ({ path, content }));
    const { body: uploaded } = await served.ask('POST', `${place}/upload`, { files: sent });
    expect(uploaded).toMatchObject({ synced: sent.length });
    expect(await exec(place, before)).toMatchObject({ ok: true });
    const { body } = await served.ask('POST', `${place}/exec`, {});
    expect(body).toMatchObject({ ok: true });
    await close(place);
    return String(body['stdout']);
  };

  it.each(['node', 'python', 'shell'])(
    'POST /v1/sessions with runtime_type "%s" answers with session_<8 hex digits> and /workspace/<project_id>',
    async (runtime) => {
      const { status, body } = await create(runtime);
      expect([status, body]).toEqual([
        200,
        { session_id: expect.stringMatching(/^session_[0-9a-f]{8}$/), workspace_path: '/workspace/proj_abc123' },
      ]);
      await close(`/v1/sessions/${String(body['session_id'])}`);
    },
  );

  it('limits: 1 vCPU, 2 GB of memory, a read-only root, no network, and no secret of the host', async () => {
    const place = await open();
    const name = `mahabharatha-${place.split('/').at(-1)?.replace('_', '-')}`;
    const text = execFileSync('docker', ['inspect', name], { encoding: 'utf8' });
    const [{ HostConfig, Mounts }] = JSON.parse(text) as [
      { HostConfig: object; Mounts: { Type: string; Destination: string; RW: boolean; Name?: string }[] },
    ];
    expect(HostConfig).toMatchObject({
      NanoCpus: 1e9,
      Memory: 2048 * MB,
      MemorySwap: 2048 * MB,
      ReadonlyRootfs: true,
      NetworkMode: 'none',
      Privileged: false,
      CapDrop: ['ALL'],
      Binds: null,
    });
    // Nothing of the host: terminals of its own, and one volume of the engine, which nobody can write.
    const mounts = Mounts.filter(({ Type, Destination }) => Type !== 'tmpfs' && Destination !== '/dev/pts');
    expect(mounts).toEqual([
      expect.objectContaining({ Type: 'volume', RW: false, Name: expect.stringMatching(/^mahabharatha-runtime-/) }),
    ]);
    expect(Mounts.map(({ Type }) => Type)).not.toContain('bind');
    expect(text).not.toContain(SECRET);
    const look =
      'env; cat /proc/*/environ 2> /dev/null | tr "\\0" "\\n"; grep -r planted-secret-9 /run /tmp ~ 2> /dev/null';
    expect((await exec(place, look))['stdout']).not.toContain(SECRET);
    await close(place);
  });

  it('disk: 512 MB, which go with the session', async () => {
    const place = await open();
    expect(await exec(place, 'df -B1 --output=size . | tail -1')).toMatchObject({ stdout: `${512 * MB}\n` });
    const full = await exec(place, 'for n in 1 2 3; do head -c 200m /dev/zero > big$n; done; cat big* | wc -c');
    expect(full).toMatchObject({ stderr: expect.stringContaining('No space left on device') });
    expect(Number(full['stdout'])).toBeLessThanOrEqual(512 * MB);
    await close(place);
    const next = await open();
    expect(await exec(next, 'ls -A')).toMatchObject({ stdout: '' });
    await close(next);
  });

  it('max processes: 64 (and what the agent leaves of its 16), so that a fork bomb ends there', async () => {
    const place = await open();
    const bomb = `const { spawn } = require('child_process'); let [begun, refused] = [0, 0];
      for (let n = 0; n < 100; n++) { const child = spawn('sleep', ['60']); child.on('spawn', () => begun++).on('error', ({ code }) => code === 'EAGAIN' && refused++); }
      setTimeout(() => { console.log(JSON.stringify({ begun, refused })); process.exit(); }, 500);`;
    const { stdout } = await exec(place, `node -e "${bomb.replaceAll('"', '\\"')}"`);
    const { begun, refused } = JSON.parse(String(stdout)) as { begun: number; refused: number };
    // The interpreter has threads, too.
    expect(begun + refused).toBe(100);
    expect(begun).toBeGreaterThan(40);
    expect(begun).toBeLessThan(80);
    expect(await exec(place, 'echo canary')).toMatchObject({ stdout: 'canary\n' });
    await close(place);
  });

  it('each session is a user of its own, as the kernel counts some resources by user: those of one session are not used up by another', async () => {
    const places = [await open(), await open(), await open('node')];
    const users = await Promise.all(places.map(async (place) => (await exec(place, 'id -u'))['stdout']));
    expect(new Set(users).size).toBe(3);
    for (const place of places) await close(place);
  });

  it.skipIf(whyNoLanguages !== '')('one session may watch as many files as it likes beside one that does', async () => {
    const [greedy, modest] = [await open('default-python'), await open('default-python')];
    const most = Number((await exec(greedy, 'cat /proc/sys/fs/inotify/max_user_instances'))['stdout']);
    const running = exec(
      greedy,
      watch(most + 1, 'open("full", "w").close()\nwhile os.path.exists("full"): time.sleep(0.01)'),
    );
    await waitUntil('it has all of its own', async () => {
      const { body } = await served.ask('GET', `${greedy}/files`);
      return JSON.stringify(body).includes('"full"');
    });
    expect(await exec(modest, watch(most, ''))).toMatchObject({ stdout: `${most} Success\n` });
    await served.ask('POST', `${greedy}/upload`, { delete: ['full'] });
    expect(await running).toMatchObject({ stdout: `${most} Too many open files\n` });
    await close(greedy);
    await close(modest);
  });

  it('at its time-out a command gets SIGTERM, and SIGKILL after 5 s of grace', async () => {
    const place = await open();
    let most = 0;
    const ended = (trap: string): Promise<Record<string, unknown>> =>
      inTime(
        500,
        (ms) => exec(place, `${trap}; echo begun; while :; do sleep 0.1; done`, { timeout_s: (most = ms / 1000) }),
        ({ stdout }) => stdout !== '',
      );
    const polite = await ended(`trap 'sleep 0.2; echo bye; exit 0' TERM`);
    expect(polite).toMatchObject({ stdout: 'begun\nbye\n', exit_code: 124 });
    const deaf = await ended(`trap 'echo asked' TERM`);
    expect(deaf).toMatchObject({ ok: false, stdout: 'begun\nasked\n', exit_code: 124, timed_out: true });
    expect(deaf['duration_ms']).toBeGreaterThanOrEqual(most * 1000 + 4900);
    await close(place);
  });

  it('each command is a new bash with a base env and the env of the request, merged', async () => {
    const place = await open();
    const first = `[ -n "$BASH_VERSION" ] && echo bash; echo "$HOME $ADDED"; export LEFT=1; left() { :; }; shopt -s extglob; umask 0`;
    expect(await exec(place, first, { env: { ADDED: 'one' } })).toMatchObject({ stdout: 'bash\n/home/sandbox one\n' });
    const next = 'echo "[$ADDED$LEFT]"; type left 2>&1 | tail -1; shopt -q extglob || echo off; umask; command -v ls';
    expect(await exec(place, next)).toMatchObject({
      stdout: expect.stringMatching(/^\[\]\n.*left: not found\noff\n0022\n\/.*ls\n$/),
    });
    expect(await exec(place, 'echo $HOME', { env: { HOME: '/tmp' } })).toMatchObject({ stdout: '/tmp\n' });
    await close(place);
  });

  describe('the denylist', () => {
    let place: string;
    beforeAll(async () => void (place = await open()));
    afterAll(() => close(place));

    it.each([
      ['rm -rf /', 'rm -rf /'],
      ['rm -rf ~', 'rm -rf ~'],
      ['dd if=', 'dd if=/dev/zero of=x'],
      ['mkfs', 'mkfs /dev/sda'],
      ['chmod 777 /', 'chmod 777 /'],
      ['sudo', 'sudo ls'],
      ['mount', 'mount /dev/sda /mnt'],
      ['chroot', 'chroot /tmp'],
      ['curl', 'curl http://localhost'],
      ['wget', 'wget http://localhost'],
      ['ssh', 'ssh localhost'],
      ['nc', 'nc localhost 1'],
    ])('blocks "%s" at the runner layer, and says so', async (rule, command) => {
      expect(await served.ask('POST', `${place}/exec`, { command: `touch ran; ${command}` })).toMatchObject({
        status: 403,
        body: { code: 'COMMAND_DENIED', detail: expect.stringContaining(`"${rule}"`) },
      });
      expect(await exec(place, 'ls -A; echo canary')).toMatchObject({ stdout: 'canary\n' });
    });
  });

  it('the network allowlist: npm, pypi.org, files.pythonhosted.org and github.com, and nothing else', async () => {
    for (const host of ['npm', 'pypi.org', 'files.pythonhosted.org', 'github.com'])
      await close(await open('shell', { network: [host] }));
    for (const host of ['example.org', 'gist.github.com', 'test.pypi.org'])
      expect(await create('shell', { network: [host] })).toMatchObject({
        status: 403,
        body: { code: 'NETWORK_REFUSED' },
      });
  });

  describe('runtime templates', () => {
    it('have the images, set-ups and default commands of the specification', () => {
      const seen = Object.entries(TEMPLATES).map(([name, template]) => [
        name,
        template.image,
        template.default_command,
        template.setup,
      ]);
      expect(seen).toEqual([
        ['node', 'node:24-slim', 'npm test', 'npm install'],
        ['python', 'python:3.12-slim', 'python main.py', 'pip install -r requirements.txt'],
        ['shell', 'ubuntu:22.04', 'bash main.sh', undefined],
      ]);
    });

    const NODE = { name: 'x', version: '1.0.0', scripts: { postinstall: 'touch installed', test: 'ls installed' } };
    it.each([
      ['node', 'npm install, then npm test', { 'package.json': JSON.stringify(NODE) }, /\ninstalled\n$/],
      ['shell', 'bash main.sh', { 'main.sh': 'echo from main.sh' }, /^from main\.sh\n$/],
    ])('%s: %s', async (name, _, files: Record<string, string>, stdout) => {
      expect(await runsDefault(name, files)).toMatch(stdout);
    });

    it.skipIf(whyNoLanguages !== '')('python: pip install -r requirements.txt, then python main.py', async () => {
      // A package to install without a network.
      const packed = `import zipfile
with zipfile.ZipFile("tiny-1.0-py3-none-any.whl", "w") as wheel:
  wheel.writestr("tiny.py", "WORD = 'installed'")
  wheel.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n")
  wheel.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
  wheel.writestr("tiny-1.0.dist-info/RECORD", "")`;
      const files = {
        'requirements.txt': './tiny-1.0-py3-none-any.whl\n',
        'main.py': 'import tiny; print(tiny.WORD)',
        'pack.py': packed,
      };
      expect(await runsDefault('python', files, 'python pack.py')).toMatch(/\ninstalled\n$/);
    });
  });
});
