import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const TOKENS = { anna: 'anna-0123456789abcdef', ben: 'ben-0123456789abcdef' };
type User = keyof typeof TOKENS;
const bearer = (user: User) => ({ authorization: `Bearer ${TOKENS[user]}` });
const RUNTIME = `    counted: { image: "${docker.image}", setup: "echo set-up >> node_modules/log", setup_files: [list], default_command: "cat node_modules/log" }`;

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
const run = (...args: string[]): string[] => lines(execFileSync('docker', args, { encoding: 'utf8' }));

describe.skipIf(docker.why !== '')(`cache volumes of projects${whySkipped}`, () => {
  let served: Served;
  let tokens: string;
  const serving = (home?: string): Promise<Served> =>
    serveForTest({
      ...(home === undefined ? {} : { home }),
      args: ['--token-file', path.join(tokens, 'tokens')],
      config: '  limits: { warm: 0, cache: 16m, memory: 512m, disk: 128m }\n',
      runtimes: RUNTIME,
    });
  const labels = ['--filter', 'label=mahabharatha.role=session-cache', '--filter'];
  const ofHome = (): string => `label=mahabharatha.servers=${served.home}/mahabharatha/servers`;
  const volumes = (): string[] => run('volume', 'ls', '-q', ...labels, ofHome());
  const opened: (readonly [User, string])[] = [];

  beforeAll(async () => {
    await buildSandboxImage();
    tokens = mkdtempSync(path.join(tmpdir(), 'mahabharatha-tokens-'));
    const users = Object.entries(TOKENS).map(([user, token]) => `${user} ${token}\n`);
    writeFileSync(path.join(tokens, 'tokens'), users.join(''), { mode: 0o600 });
    served = await serving();
  });
  afterEach(async () => {
    for (const [user, session] of opened.splice(0))
      await served.ask('DELETE', `/v1/sessions/${session}`, undefined, bearer(user));
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    run('volume', 'rm', ...volumes());
    expect(volumes()).toEqual([]);
    rmSync(tokens, { recursive: true });
  });

  const ask = (project = 'p', runtime = 'shell', user: User = 'anna', cache = true) =>
    served.ask('POST', '/v1/sessions', { project_id: project, runtime_type: runtime, cache }, bearer(user));
  const openAlone = async (...given: Parameters<typeof ask>): Promise<string> => {
    const { status, body } = await ask(...given);
    expect(status, JSON.stringify(body)).toBe(200);
    return String(body['session_id']);
  };
  /** It is closed after the test. */
  const open = async (...given: Parameters<typeof ask>): Promise<string> => {
    const session = await openAlone(...given);
    opened.push([given[2] ?? 'anna', session]);
    return session;
  };
  const exec = async (session: string, command?: string, user: User = 'anna'): Promise<Record<string, unknown>> =>
    (await served.ask('POST', `/v1/sessions/${session}/exec`, { command }, bearer(user))).body;
  const close = (session: string, user: User = 'anna') =>
    served.ask('DELETE', `/v1/sessions/${session}`, undefined, bearer(user));
  const seen = async (session: string, user: User = 'anna'): Promise<unknown> =>
    (await exec(session, 'cat node_modules/word .venv/word 2>&1', user))['stdout'];
  const fill = (session: string, word: string) =>
    exec(session, `for d in node_modules .venv; do echo ${word} > $d/word; done`);

  it('a persistent volume per project for node_modules and .venv: the next session of the project has it, and no other', async () => {
    const first = await open();
    expect(await exec(first, 'pwd; touch here; ls -A')).toMatchObject({
      stdout: '/workspace/p\n.venv\nhere\nnode_modules\n',
    });
    expect(await fill(first, 'kept')).toMatchObject({ exit_code: 0 });
    expect((await close(first)).status).toBe(200);
    const second = await open();
    expect(await seen(second)).toBe('kept\nkept\n');
    const own = await exec(
      second,
      'ls -A; stat -c "%u %a" node_modules .venv */word | sed "s/^$(id -u) /own /"; id -u',
    );
    const lines = '.venv\nnode_modules\nown 700\nown 700\nown 644\n';
    expect(own).toMatchObject({ stdout: expect.stringMatching(new RegExp(`^${lines}19[5-9]\\d{7}\n$`)) });
    expect(volumes()).toHaveLength(2);
    for (const [project, runtime, user] of [
      ['q', 'shell', 'anna'],
      ['p', 'node', 'anna'],
      ['p', 'shell', 'ben'],
    ] as const) {
      const session = await open(project, runtime, user);
      expect(await seen(session, user)).not.toContain('kept');
    }
    expect(volumes()).toHaveLength(8);
  });

  it('a session that does not ask for it has none', async () => {
    await fill(await open('without'), 'kept');
    const session = await open('without', 'shell', 'anna', false);
    expect(await exec(session, 'pwd; ls -A')).toMatchObject({ stdout: '/workspace/without\n' });
  });

  it('one session at a time has it', async () => {
    const session = await open('busy');
    const second = await ask('busy');
    expect([second.status, second.body]).toMatchObject([409, { code: 'CACHE_BUSY' }]);
    expect(second.body['hint']).toContain('DELETE');
    expect(await exec(session, 'echo canary')).toMatchObject({ stdout: 'canary\n' });
    await close(session);
    await open('busy');
  });

  it('it outlives its container, and the server, also one that is killed', async () => {
    const session = await open('lasting');
    await fill(session, 'kept');
    run('kill', `mahabharatha-${session.replace('_', '-')}`);
    expect(await seen(session)).toBe('kept\nkept\n');
    await fill(session, 'again');
    await served.end('SIGKILL');
    opened.length = 0;
    served = await serving(served.home);
    expect(await seen(await open('lasting'))).toBe('again\nagain\n');
  });

  it('the set-up is done once in each container, whatever the cache has', async () => {
    for (const stdout of ['set-up\n', 'set-up\nset-up\n']) {
      const session = await open('counted', 'counted');
      const files = [{ path: 'list', content: 'one' }];
      await served.ask('POST', `/v1/sessions/${session}/upload`, { files }, bearer('anna'));
      expect(await exec(session)).toMatchObject({ exit_code: 0, stdout });
      expect(await exec(session)).toMatchObject({ exit_code: 0, stdout });
      await close(session);
    }
  });

  const FLOOD = 'i=0; while true; do i=$((i + 1)); head -c 8388608 /dev/zero > node_modules/$i; sleep 0.05; done';
  const HOSTILE = [
    ['a command that writes more than the limit', FLOOD, 'holds more than 16'],
    ['a folder that is closed', 'mkdir .venv/x; chmod 000 .venv/x; sleep 60', 'cannot be read'],
    ['a closed cache', 'chmod 000 node_modules; sleep 60', 'cannot be read'],
    [
      'a deep tree',
      `cd node_modules; node -e "for (let i = 0; i < 10000; i++) { fs.mkdirSync('d'); process.chdir('d'); }"; sleep 60`,
      'folders inside each other',
    ],
    [
      'many files',
      'cd node_modules; for d in $(seq 5); do mkdir $d; (cd $d; touch $(seq 1000)); done; sleep 60',
      'more than 4096 files',
    ],
    [
      'a file without a name',
      'exec 9> node_modules/x; rm node_modules/x; head -c 100000000 /dev/zero >&9; sleep 60',
      'holds more than 16',
    ],
  ] as const;
  it.concurrent.each(HOSTILE)(
    '%s is ended, and the next session begins with an empty cache',
    async (what, command, why) => {
      const project = what.replaceAll(' ', '-');
      const session = await openAlone(project);
      await exec(session, 'echo old > .venv/old');
      const end = await exec(session, command);
      expect(end).toMatchObject({ ok: false, killed: true });
      expect(end['stderr']).toContain(why);
      expect(end['stderr']).toContain('serve.limits.cache');
      await close(session);
      const next = await openAlone(project);
      expect(await exec(next, 'find node_modules .venv -mindepth 1')).toMatchObject({ stdout: '' });
      expect(await exec(next, 'echo new > .venv/new; sleep 2.5; cat .venv/new')).toMatchObject({ stdout: 'new\n' });
      await close(next);
    },
  );

  it('uploads are measured as well: beyond the limit nothing is taken, and the next session begins with an empty cache', async () => {
    const session = await openAlone('uploads');
    const upload = (file: string, content: string) =>
      served.ask('POST', `/v1/sessions/${session}/upload`, { files: [{ path: file, content }] }, bearer('anna'));
    let last = await upload('word', 'kept');
    // There is room for two of them, however often it is measured meanwhile.
    for (const name of ['one', 'two', 'three'])
      expect(await upload(`node_modules/${name}`, 'x'.repeat(7 * 1024 ** 2))).toMatchObject({ status: 200 });
    await waitUntil('the cache was measured', async () => (last = await upload('word', 'kept')).status !== 200);
    expect(last).toMatchObject({ status: 409, body: { code: 'CACHE_TOO_LARGE' } });
    expect(await exec(session, 'true')).toMatchObject({ code: 'CACHE_TOO_LARGE' });
    const read = await served.ask('GET', `/v1/sessions/${session}/fs?path=word`, undefined, bearer('anna'));
    expect(read.body).toMatchObject({ content: 'kept' });
    await close(session);
    expect(await exec(await open('uploads'), 'find node_modules .venv -mindepth 1')).toMatchObject({ stdout: '' });
  });

  it('no container of a session is left', async () => {
    const role = ['--filter', 'label=mahabharatha.role=session', '--filter', ofHome()];
    await waitUntil('no container', () =>
      [role, [...labels, ofHome()]].every((of) => run('ps', '-aq', ...of).length === 0),
    );
  });
});
