import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { searchEngine } from '../../src/engines/index.ts';
import type { Engine } from '../../src/engines/index.ts';
import { buildImages, CLAUDE_CODE_VERSION, findRunImage } from '../../src/images/index.ts';
import type { BuildRequest, BuiltImage } from '../../src/images/index.ts';
import { randomId } from '../../src/lib/index.ts';
import { workerStatus } from '../../src/protocol/index.ts';
import type { Boot } from '../../src/protocol/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { waitUntil } from '../support/wait-until.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const BASE = process.env['MAHABHARATHA_TEST_IMAGE'] ?? 'mahabharatha-base:bookworm';
/** No entry of /etc/passwd in the image has it, as with the uid of most users. */
const UID = 12_345;
/** With a version of their own, images have tags of their own: other tests on the engine do not remove or rename these. */
const VERSION = `0.0.0-test.${randomId()}`;
/** In place of the name "latest", which every build on the engine moves to its image. */
const LATEST = `mahabharatha-test-latest:${randomId()}`;
const LOCKED = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges', '--network=none', '--tmpfs=/tmp'];

const { engine: found } = await searchEngine(process.env);
const base = await found?.inspectImage(BASE);
const missing =
  found === undefined
    ? 'no container engine'
    : base === undefined
      ? `no image ${BASE}: docker/air-gapped/build-base.sh makes it`
      : !existsSync(path.join(ROOT, 'dist/bundle/egress/egress.js'))
        ? 'not built: npm run build'
        : undefined;
const why = missing === undefined ? '' : ` (${missing})`;

describe.skipIf(missing !== undefined && process.env['CI'] !== 'true')(`the worker image${why}`, () => {
  let image: BuiltImage;
  const made: string[] = [];

  beforeAll(async () => {
    image = only(await build());
  });

  afterAll(() => {
    for (const tag of [...made, image.tag, LATEST]) spawnSync('docker', ['image', 'rm', '--force', tag]);
    // Images of these tests that a build without cache has left without a name.
    spawnSync('docker', ['image', 'prune', '--force', `--filter=label=mahabharatha.version=${VERSION}`]);
  });

  it('has Claude Code in the pinned version, and git, Node and bash', () => {
    expect(inside('claude --version')).toContain(CLAUDE_CODE_VERSION);
    expect(inside('git --version')).toMatch(/^git version 2\.(3[89]|[4-9]\d)/);
    expect(inside('node --version; /opt/mahabharatha/node --version')).toMatch(/^v2\d\.\d+\.\d+\nv2\d/);
    expect(inside('bash --version')).toContain('GNU bash');
    expect(inside('curl --version')).toContain('https');
    expect(inside('printf %s "$DISABLE_UPDATES"')).toBe('1');
  });

  it('is not much larger than its content', () => {
    const extra = image.bytes - (base?.bytes ?? 0);
    expect(extra / 1e6).toBeLessThan(400);
  });

  it('runs as a user who can write only what is mounted, whichever user that is', () => {
    expect(inspect('{{.Config.User}}')).toBe('1000:1000');
    for (const user of ['1000:1000', `${UID}:${UID}`]) {
      const script =
        'id -u; for f in / /opt/mahabharatha /workspace /run/mahabharatha/outbox; do test -w $f && echo $f; done; true';
      expect(inside(script, ['--user', user])).toBe(user.split(':')[0]);
      expect(inside('echo x > ~/file && cat ~/file', ['--user', user])).toBe('x');
    }
    expect(inside('command -v sudo su; find / -xdev -perm /6000 -type f 2>/dev/null; true')).not.toContain('sudo');
    expect(inside('find / -xdev -perm /6000 -type f 2>/dev/null; true')).toBe('');
  });

  it('has labels with its version and content', () => {
    const labels: Record<string, string> = JSON.parse(inspect('{{json .Config.Labels}}'));
    expect(labels).toMatchObject({
      'org.opencontainers.image.title': 'mahabharatha-worker',
      'org.opencontainers.image.version': VERSION,
      'mahabharatha.version': VERSION,
      'mahabharatha.content': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(image.tag).toBe(`mahabharatha-worker:${labels['mahabharatha.content']?.slice(0, 12)}`);
  });

  it('trusts the authorities that this machine trusts', () => {
    const file = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
    const wanted = file === '' ? [] : certificatesIn(readFileSync(file, 'utf8'));
    const store = new Set(certificatesIn(inside('cat "$NODE_EXTRA_CA_CERTS"')));
    expect(store.size).toBeGreaterThan(100);
    expect(wanted.filter((certificate) => !store.has(certificate))).toEqual([]);
  });

  it('reports a worker as healthy only when it has written its status lately', () => {
    const check = '/bin/sh /opt/mahabharatha/healthcheck.sh /tmp/status.json 30';
    expect(inside(`${check} || echo "exit $?"`)).toBe('no status yet: /tmp/status.json\nexit 1');
    expect(inside(`touch /tmp/status.json; ${check} && echo fine`)).toMatch(/^last beat \d+ s ago\nfine$/);
    const old = 'touch -d "90 seconds ago" /tmp/status.json';
    expect(inside(`${old}; ${check} || echo "exit $?"`)).toMatch(/^last beat 9\d s ago, limit 30 s\nexit 1$/);
    expect(inspect('{{json .Config.Healthcheck.Test}}')).toBe('["CMD","/bin/sh","/opt/mahabharatha/healthcheck.sh"]');
  });

  it('starts the worker with its fixed paths, and Docker reports it as healthy', async () => {
    const worker = workerFolders();
    const id = docker([
      'run',
      '--detach',
      '--init',
      '--health-interval=1s',
      `--user=${UID}:${UID}`,
      ...LOCKED,
      '--tmpfs=/home/worker:mode=1777',
      ...worker.mounts.flatMap((mount) => ['--volume', mount]),
      image.id,
    ]);
    onTestFinished(() => void spawnSync('docker', ['rm', '--force', '--volumes', id]));
    const health = ['inspect', '--format', '{{.State.Health.Status}}', id];
    await waitUntil('Docker calls the worker healthy', () => docker(health) === 'healthy').catch((error: Error) => {
      throw new Error(
        `${error.message}\n${spawnSync('docker', ['logs', id], { encoding: 'utf8' }).stderr}\n${docker(['inspect', '--format', '{{json .State}}', id])}`,
      );
    });
    const status = workerStatus.parse(JSON.parse(readFileSync(worker.status, 'utf8')));
    expect(status).toMatchObject({ session: 's', phase: 'idle' });
    expect(docker(['inspect', '--format', '{{.State.Running}}', id])).toBe('true');
    docker(['stop', '--time', '600', id]);
    expect(docker(['inspect', '--format', '{{.State.ExitCode}}', id])).toBe('0');
  });

  it('is cached the second time', async () => {
    expect(only(await build())).toMatchObject({ tag: image.tag, cached: true });
    expect(await findRunImage(theEngine(), request())).toMatchObject({ kind: 'worker', state: { state: 'fresh' } });
  });

  it('is built quickly under another tag when only the worker program has changed, and the old one is stale', async () => {
    const packageRoot = copyOfPackage();
    appendFileSync(path.join(packageRoot, 'dist/bundle/worker/worker.js'), '\n// changed\n');
    const before = await findRunImage(theEngine(), request({ packageRoot }));
    expect(before.state).toMatchObject({ state: 'stale', reasons: ['its program has changed'] });

    // The builder's cache may have lost the image's steps: the first build fills it, the second one uses it.
    made.push(only(await build({ packageRoot }, [])).tag);
    appendFileSync(path.join(packageRoot, 'dist/bundle/worker/worker.js'), '\n// changed again\n');
    const lines: string[] = [];
    const changed = only(await build({ packageRoot }, lines));
    made.push(changed.tag);
    expect(changed.tag).not.toBe(image.tag);
    expect(lines.some((line) => line.includes('Using cache'))).toBe(true);
    expect(lines.join('\n')).not.toMatch(/added \d+ packages/);
    expect(docker(['image', 'inspect', '--format', '{{.Id}}', LATEST])).toBe(changed.id);
  });

  it("is the base of a repository's own Dockerfile, whose image stays a worker whatever that says", async () => {
    const project = tempFolder();
    mkdirSync(path.join(project, 'docker'));
    writeFileSync(path.join(project, 'docker', 'tool.sh'), '#!/bin/sh\necho the tool works\n');
    chmodSync(path.join(project, 'docker', 'tool.sh'), 0o755);
    const text =
      'FROM mahabharatha-worker\nUSER root\nCOPY docker/tool.sh /usr/local/bin/tool\nENTRYPOINT ["/bin/false"]\n';
    writeFileSync(path.join(project, 'Dockerfile'), text);

    const [worker, own] = await build({ project });
    made.push(own?.tag ?? '');
    expect(worker).toMatchObject({ tag: image.tag, cached: true });
    expect(own).toMatchObject({ kind: 'repository', cached: false });
    expect(docker(['run', '--rm', '--entrypoint', 'tool', own?.tag ?? ''])).toBe('the tool works');
    for (const field of ['{{.Config.User}}', '{{.Config.Entrypoint}}', '{{.Config.WorkingDir}}']) {
      expect(inspect(field, own?.tag)).toBe(inspect(field));
    }
    expect(await findRunImage(theEngine(), request({ project }))).toMatchObject({
      kind: 'repository',
      state: { state: 'fresh', tag: own?.tag },
    });
    expect(await build({ project })).toMatchObject([{ cached: true }, { cached: true }]);
  });

  it('says which base it needs when the given one has no Node', async () => {
    const bare = `mahabharatha-test-bare:${process.pid}`;
    made.push(bare);
    execFileSync('docker', ['build', '--tag', bare, '-'], {
      input: `FROM ${BASE}\nRUN rm /usr/local/bin/node\n`,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await expect(build({ base: bare })).rejects.toThrow(/needs Node 20\.19 or newer with npm[^]*air-gapped/);
  });

  // The last test, because a build with another proxy shares no cache with the others.
  it('contains no registry, proxy or path of the machine that has built it', async () => {
    const env = { ...process.env, NO_PROXY: 'a-name-of-ours.example', npm_config_registry: registryWithPassword() };
    const again = only(await build({ env, noCache: true }));
    const text = docker(['image', 'history', '--no-trunc', again.tag]) + docker(['image', 'inspect', again.tag]);
    expect(text).not.toContain('a-name-of-ours');
    expect(text).not.toContain('registry=');
    expect(text).not.toContain('a-password');
    const certificates = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
    if (certificates !== '' && certificates !== '/etc/ssl/certs/ca-certificates.crt')
      expect(text).not.toContain(certificates);
    expect(text).not.toContain(ROOT);
    expect(inside('cat ~/.npmrc /root/.npmrc /tmp/fetch/npmrc /opt/mahabharatha/*.pem 2>/dev/null; true')).toBe('');
    expect(inside('ls -A /root/.npm /tmp 2>/dev/null | grep -v : || true')).toBe('');
  });

  function inside(script: string, options: readonly string[] = []): string {
    const home = options.includes('--user') ? '--tmpfs=/home/worker:mode=1777' : '--tmpfs=/home/worker:mode=777';
    return docker(['run', '--rm', ...LOCKED, home, ...options, '--entrypoint', '/bin/bash', image.id, '-c', script]);
  }

  function inspect(format: string, tag = image.tag): string {
    return docker(['image', 'inspect', '--format', format, tag]);
  }
});

const named = (name: string): string => (name === 'mahabharatha-worker:latest' ? LATEST : name);

function theEngine(): Engine {
  if (found === undefined) throw new Error('no container engine');
  return {
    ...found,
    inspectImage: (name) => found.inspectImage(named(name)),
    tagImage: (id, tag) => found.tagImage(id, named(tag)),
  };
}

function request(change: Partial<BuildRequest> = {}): BuildRequest {
  const common = { packageRoot: ROOT, version: VERSION, env: process.env, project: null, base: BASE };
  return { ...common, agents: ['claude'], platform: null, noCache: false, ...change };
}

async function build(change: Partial<BuildRequest> = {}, lines: string[] = []): Promise<BuiltImage[]> {
  if (missing !== undefined) throw new Error(missing);
  const built: BuiltImage[] = [];
  await buildImages(theEngine(), request(change), {
    step: () => undefined,
    line: (text) => lines.push(text),
    done: (image) => void built.push(image),
  });
  return built;
}

function only(images: readonly BuiltImage[]): BuiltImage {
  const [image, ...more] = images;
  if (image === undefined || more.length > 0) throw new Error(`${images.length} images, not one`);
  return image;
}

function docker(args: readonly string[]): string {
  return execFileSync('docker', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}

function certificatesIn(pem: string): string[] {
  return pem.replaceAll('\r', '').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
}

/** The registry of this machine, with a password in its address. */
function registryWithPassword(): string {
  const url = new URL(execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8', cwd: ROOT }).trim());
  url.username = 'somebody';
  url.password = 'a-password';
  return url.href;
}

function copyOfPackage(): string {
  const folder = tempFolder();
  cpSync(path.join(ROOT, 'docker'), path.join(folder, 'docker'), { recursive: true });
  for (const name of ['worker', 'egress']) {
    cpSync(path.join(ROOT, 'dist/bundle', name), path.join(folder, 'dist/bundle', name), { recursive: true });
  }
  return folder;
}

/** The folders that a launcher mounts for one worker, with the worker's uid as owner. */
function workerFolders(): { mounts: string[]; status: string } {
  const folder = tempFolder();
  const [worktree, inbox, outbox, shared] = ['worktree', 'inbox', 'outbox', 'shared'].map((name) =>
    path.join(folder, name),
  );
  if (worktree === undefined || inbox === undefined || outbox === undefined || shared === undefined) throw new Error();
  for (const each of [worktree, inbox, outbox, shared]) mkdirSync(each);
  const gitdir = path.join(folder, 'gitdir');
  execFileSync('git', ['init', '--quiet', '--initial-branch=w', `--separate-git-dir=${gitdir}`, worktree]);
  const author = ['-c', 'user.name=T', '-c', 'user.email=t@example.invalid'];
  execFileSync('git', [...author, 'commit', '--quiet', '--allow-empty', '-m', 'first'], { cwd: worktree });
  const names = { runId: 'r', feature: 'f', worker: 0, session: 's', branch: 'w' };
  const start = { checkedOut: null, likelyBase: null, setUp: false, bundles: true, singleUse: true, setup: null };
  const boot: Boot = { version: 1, ...names, ...start, leaseMs: 60_000, stopGraceMs: 1000 };
  writeFileSync(path.join(inbox, 'worker.json'), JSON.stringify(boot));
  writeFileSync(path.join(shared, 'lease.json'), JSON.stringify({ version: 1, owner: 'o', beat: 1 }));
  writeFileSync(path.join(worktree, '.git'), 'gitdir: /gitdir\n');
  giveAway(folder);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const mounts = [
    `${worktree}:/workspace`,
    `${gitdir}:/gitdir`,
    `${inbox}:/run/mahabharatha/inbox:ro`,
    `${outbox}:/run/mahabharatha/outbox`,
    `${shared}:/run/mahabharatha/shared:ro`,
  ];
  return { mounts, status: path.join(outbox, 'status.json') };
}

/** Makes the worker's uid the owner if this process may do so, and lets all users write otherwise. */
function giveAway(file: string): void {
  if (process.getuid?.() === 0) chownSync(file, UID, UID);
  else chmodSync(file, 0o777);
  for (const entry of readdirSync(file, { withFileTypes: true })) {
    const inner = path.join(file, entry.name);
    if (entry.isDirectory()) giveAway(inner);
    else if (process.getuid?.() === 0) chownSync(inner, UID, UID);
  }
}
