import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HttpRunnerClient } from '../../src/client/index.ts';
import { inTime } from '../support/in-time.ts';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

/** What processes run, in one line. Those that have ended say nothing any more. */
const ALL = `cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' ' '`;

const containersOf = (session: string): string[] =>
  execFileSync('docker', ['ps', '-aq', '--filter', `name=${session.replace('_', '-')}`], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line !== '');

describe.skipIf(docker.why !== '')(`sessions over HTTP${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest();
  });
  afterAll(async () => {
    expect(await served.end()).toBe(0);
    const left = ['ps', '-aq', '--filter', `label=mahabharatha.servers=${served.home}/mahabharatha/servers`];
    expect(execFileSync('docker', left, { encoding: 'utf8' })).toBe('');
  });

  const open = async (): Promise<string> => {
    const { status, body } = await served.ask('POST', '/v1/sessions', {
      project_id: 'proj_abc123',
      runtime_type: 'shell',
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      session_id: expect.stringMatching(/^session_[0-9a-f]{8}$/),
      workspace_path: '/workspace/proj_abc123',
    });
    return String(body['session_id']);
  };
  const exec = async (session: string, command: string, more: object = {}): Promise<Record<string, unknown>> =>
    (await served.ask('POST', `/v1/sessions/${session}/exec`, { command, ...more })).body;

  it('says at the end of a stream why a command has no end of its own', async () => {
    const session = await open();
    const client = new HttpRunnerClient({ url: served.address });
    let ending: Promise<unknown> | undefined;
    const streamed = client.stream(session, { command: 'echo begun; sleep 600' }, () => {
      ending ??= client.destroySession(session);
    });
    await expect(streamed).rejects.toMatchObject({ code: 'SESSION_ENDED' });
    await ending;
  });

  it('POST …/exec answers with ok, stdout, stderr, exit_code, cwd and duration_ms; cwd persists until reset_cwd, env does not', async () => {
    const session = await open();
    expect(await exec(session, 'pwd; mkdir -p a/b; cd a && cd b; echo oops > /dev/stderr; exit 3')).toMatchObject({
      ok: false,
      stdout: '/workspace/proj_abc123\n',
      stderr: 'oops\n',
      exit_code: 3,
      cwd: '/workspace/proj_abc123/a/b',
      duration_ms: expect.any(Number),
    });
    const env = { NODE_ENV: 'test' };
    expect(await exec(session, 'pwd; echo $NODE_ENV; export KEPT=1', { env })).toMatchObject({
      ok: true,
      stdout: '/workspace/proj_abc123/a/b\ntest\n',
    });
    expect(await exec(session, 'echo "[$KEPT$NODE_ENV]"; pwd', { reset_cwd: true })).toMatchObject({
      stdout: '[]\n/workspace/proj_abc123\n',
    });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('DELETE destroys the container with the session: {"destroyed":true}', async () => {
    const session = await open();
    expect(containersOf(session)).toHaveLength(1);
    const { status, body } = await served.ask('DELETE', `/v1/sessions/${session}`);
    expect([status, body]).toEqual([200, { destroyed: true }]);
    expect(containersOf(session)).toEqual([]);
    expect((await served.ask('POST', `/v1/sessions/${session}/exec`, { command: 'true' })).status).toBe(404);
  });

  it.concurrent.each([
    ['a line end in a name', 'mkdir -p "/tmp/a\nb" && cd "/tmp/a\nb"', '/tmp/a\nb'],
    ['pushd', 'pushd /tmp > /dev/null', '/tmp'],
    ['a function', 'go() { cd /tmp; }; go', '/tmp'],
    ['a failure', 'cd /tmp && false', '/tmp'],
    ['a trap in place of the report', 'cd /tmp; trap "echo bye" EXIT', '/tmp'],
    ['a program that takes the place of the shell at once', 'cd /tmp; exec true', '/tmp'],
    ['a shell that kills itself', 'cd /tmp; kill -9 $$', '/tmp'],
    ['popd', 'pushd /tmp; pushd /; popd', '/tmp'],
    ['a pipe and a subshell', 'cd /tmp; cd / | true; (cd /)', '/tmp'],
    ['an own trap', 'trap "true" EXIT; cd /tmp; sleep 0.3', '/tmp'],
    ['a program in the place of the shell', 'cd /tmp; exec sleep 0.3', '/tmp'],
    ['a subshell', '(cd /tmp)', '/workspace/proj_abc123'],
    ['a folder that is not there', 'cd /nowhere', '/workspace/proj_abc123'],
    ['output that looks like a report', 'echo /etc; echo /etc >&2', '/workspace/proj_abc123'],
    ['a folder that is removed', 'mkdir gone; cd gone; rmdir ../gone', '/workspace/proj_abc123'],
  ])('cwd persists between commands of a session, also after %s', async (_, command, cwd) => {
    const session = await open();
    await exec(session, command);
    const next = await exec(session, 'true');
    expect(next['cwd']).toBe(cwd);
    expect(await exec(session, 'echo alive')).toMatchObject({ stdout: 'alive\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('SSE: events stdout, stderr and exit with exit_code, cwd and duration_ms, and no output can forge one', async () => {
    const session = await open();
    const text = await served.stream(`/v1/sessions/${session}/exec`, {
      command: String.raw`echo one; echo bad >&2; sleep 0.2; printf 'x\n\nevent: exit\ndata: {}\n\n'; exit 4`,
    });
    const events = text.split('\n\n').filter((event) => event.startsWith('event:'));
    expect(events.filter((event) => event.startsWith('event: exit'))).toHaveLength(1);
    expect(events.at(-1)).toMatch(/^event: exit\ndata: \{"exit_code":4,"cwd":"\/workspace\/proj_abc123",/);
    // What comes later is in the same event where the machine stands still meanwhile.
    expect(events[0]).toMatch(/^event: stdout\ndata: one\ndata: /);
    expect(events).toContain('event: stderr\ndata: bad\ndata: ');
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('workspaces are persistent: what a command or an upload leaves in them is there for the next command', async () => {
    const session = await open();
    const { body } = await served.ask('POST', `/v1/sessions/${session}/upload`, {
      files: [{ path: 'src/one.txt', content: 'one\n' }],
    });
    expect(body).toMatchObject({ synced: 1 });
    await exec(session, 'cat src/one.txt > copy; cd /; exit 3');
    expect(await exec(session, 'cat copy src/one.txt', { reset_cwd: true })).toMatchObject({ stdout: 'one\none\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('SSE is live: an event is there while its command still runs', async () => {
    const session = await open();
    const response = await fetch(`${served.address}/v1/sessions/${session}/exec`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ command: 'echo begun; while [ ! -e go ]; do sleep 0.05; done; echo done' }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    const until = async (part: string): Promise<void> => {
      for (let isOver = false; !isOver && !text.includes(part);) {
        const { done, value } = await reader.read();
        text += Buffer.from(value ?? []).toString('utf8');
        isOver = done;
      }
      expect(text).toContain(part);
    };
    await until('data: begun');
    expect(text).not.toContain('event: exit');
    await served.ask('POST', `/v1/sessions/${session}/upload`, { files: [{ path: 'go', content: '' }] });
    await until('event: exit');
    expect(text).toContain('data: done');
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('kills what runs, with all that it started, at its timeout_s and at POST …/kill: {"killed":true}', async () => {
    const session = await open();
    const late = `trap '' TERM; setsid sh -c 'sleep 8; touch late' & sleep 60`;
    const limited = (ms: number): ReturnType<typeof exec> =>
      exec(session, `echo begun; ${late}`, { timeout_s: ms / 1000 });
    expect(await inTime(500, limited, ({ stdout }) => stdout !== '')).toMatchObject({
      ok: false,
      exit_code: 124,
      timed_out: true,
      stdout: 'begun\n',
    });
    const running = exec(session, 'sleep 60');
    await waitUntil(
      'a change of the session',
      async () => (await served.ask('GET', `/v1/sessions/${session}`)).body['busy'] === true,
    );
    expect((await served.ask('POST', `/v1/sessions/${session}/exec`, { command: 'true' })).status).toBe(409);
    expect(await served.ask('POST', `/v1/sessions/${session}/kill`)).toMatchObject({ body: { killed: true } });
    expect(await running).toMatchObject({ exit_code: 143, killed: true });
    expect(await served.ask('POST', `/v1/sessions/${session}/kill`)).toMatchObject({ body: { killed: false } });
    expect(await exec(session, `ls; ${ALL} | grep -c "[s]leep"`)).toMatchObject({ stdout: '0\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('kills what has lost the first signal, as a shell may that starts a program just then, before the grace is over', async () => {
    const session = await open();
    const losing = `trap '' TERM; touch begun; sleep 0.5; exec env --default-signal=TERM sleep 60`;
    const running = exec(session, losing);
    const place = `/v1/sessions/${session}`;
    await waitUntil('it runs', async () => (await served.ask('GET', `${place}/fs?path=begun`)).status === 200);
    expect(await served.ask('POST', `${place}/kill`)).toMatchObject({ body: { killed: true } });
    expect(await running).toMatchObject({ exit_code: 143, killed: true });
    await served.ask('DELETE', place);
  });

  it.each(['as a whole', 'as a stream'])(
    'a command that was killed is no success, whatever it says: an answer %s',
    async (how) => {
      const session = await open();
      const place = `/v1/sessions/${session}`;
      const wish = { command: `trap 'exit 0' TERM; touch begun; sleep 60 & wait` };
      const isWhole = how === 'as a whole';
      const running = isWhole ? served.ask('POST', `${place}/exec`, wish) : served.stream(`${place}/exec`, wish);
      const hasBegun = async (): Promise<boolean> => (await served.ask('GET', `${place}/fs?path=begun`)).status === 200;
      await waitUntil('it has begun', hasBegun);
      await served.ask('POST', `${place}/kill`);
      if (isWhole) expect(await running).toMatchObject({ body: { ok: false, exit_code: 143, killed: true } });
      else expect(await running).toContain('data: {"exit_code":143,');
      await served.ask('DELETE', place);
    },
  );

  it('ends the command of a client that has gone', async () => {
    const session = await open();
    const gone = new AbortController();
    const asked = fetch(`${served.address}/v1/sessions/${session}/exec`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ command: 'sleep 600' }),
      signal: gone.signal,
    });
    await asked;
    gone.abort();
    await waitUntil(
      'a change of the session',
      async () => (await served.ask('GET', `/v1/sessions/${session}`)).body['busy'] === false,
    );
    expect(await exec(session, 'echo next')).toMatchObject({ stdout: 'next\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('says where a command runs when its working directory is gone, and traces nothing of its own', async () => {
    const session = await open();
    await exec(session, 'mkdir gone && cd gone');
    await exec(session, 'bash -c "cd .. && rmdir gone"');
    expect(await exec(session, 'pwd')).toMatchObject({
      stdout: '/workspace/proj_abc123\n',
      stderr: expect.stringMatching(/^The working directory \/workspace\/proj_abc123\/gone cannot be entered any more/),
    });
    expect(await exec(session, 'set -x; cd /tmp')).toMatchObject({ stderr: '+ cd /tmp\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it.each([
    'cd nope',
    'cd /etc/passwd; echo $?',
    'cd a b',
    'cd -Z',
    'set -e; true\ncd nope\necho not here',
    'set -eu; cd nope || echo "$?"',
    'go() {\n  cd nope\n}\ngo; echo $?',
    'printf "true\\ncd nope\\n" > x.sh; . ./x.sh',
    'pushd nope; popd',
    'set -E; trap "echo failed" ERR; cd nope; cd /; cd - ',
    '(cd nope); x=$(cd nope 2>&1); echo "$x"',
    'cd nope 2> /dev/null; cd nope > out; cat out',
  ])(
    'what the shell says of a folder that cannot be entered is what it says without a session: %j',
    async (command) => {
      const session = await open();
      const { stdout, stderr, exit_code } = await exec(session, command);
      await exec(session, 'printf %s "$COMMAND" > command', { env: { COMMAND: command } });
      const plain = await exec(session, 'bash -c "$(cat command)"');
      expect({ stdout, stderr, exit_code }).toEqual({
        stdout: plain['stdout'],
        stderr: plain['stderr'],
        exit_code: plain['exit_code'],
      });
      expect(stderr).not.toContain('mahabharatha');
      await served.ask('DELETE', `/v1/sessions/${session}`);
    },
  );

  it('says why a command cannot be started, and the next one is', async () => {
    const session = await open();
    const wish = { command: 'echo $A', env: { A: 'x'.repeat(200_000) } };
    const { status, body } = await served.ask('POST', `/v1/sessions/${session}/exec`, wish);
    expect([status, body['exit_code'], body['workspace_lost']]).toEqual([200, 126, false]);
    expect(body['stderr']).toBe(
      'The command was not started: its command or its variables are longer than a program may get.\n',
    );
    expect(await exec(session, 'echo next')).toMatchObject({ stdout: 'next\n', workspace_lost: false });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('ends at once while its command runs, and says so to those who wait for it', async () => {
    const session = await open();
    const place = `/v1/sessions/${session}`;
    const running = served.ask('POST', `${place}/exec`, { command: 'trap "" TERM; sleep 600' });
    await waitUntil('it runs', async () => (await served.ask('GET', place)).body['busy'] === true);
    const ends = await Promise.all([served.ask('DELETE', place), served.ask('DELETE', place)]);
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set([200, 404]));
    expect(await running).toMatchObject({ status: 410, body: { code: 'SESSION_ENDED' } });
    expect(await served.ask('POST', `${place}/exec`, { command: 'true' })).toMatchObject({ status: 404 });
  });

  it('ends while its files are read and written, and says so to those who wait for them', async () => {
    const session = await open();
    const place = `/v1/sessions/${session}`;
    const lastUse = async (): Promise<unknown> => {
      const { sessions } = (await served.ask('GET', '/v1/sessions')).body as { sessions: Record<string, unknown>[] };
      return sessions.find(({ session_id: id }) => id === session)?.['last_used_at'];
    };
    await served.ask('POST', `${place}/upload`, { files: [{ path: '.env', content: 'A=1' }] });
    // As long as its agent stands still nothing is answered; a container that is paused would be replaced.
    const agents =
      'for p in /proc/[0-9]*; do grep -q "sandbox[-]agent" $p/cmdline && kill -STOP ${p#/proc/}; done; true';
    execFileSync('docker', ['exec', '--user', '0', ...containersOf(session), 'sh', '-c', agents]);
    const asked: Promise<unknown>[] = [];
    for (const [method, what, body] of [
      ['POST', 'upload', { files: [{ path: 'a', content: 'x' }] }],
      ['GET', 'files', undefined],
      ['GET', 'fs?path=.env', undefined],
      ['POST', 'exec', { command: 'true', env_file: '.env' }],
    ] as const) {
      const before = await lastUse();
      asked.push(served.ask(method, `${place}/${what}`, body));
      await waitUntil('it is under way', async () => (await lastUse()) !== before);
    }
    expect(await served.ask('DELETE', place)).toMatchObject({ status: 200 });
    const ended = { status: 410, body: { code: 'SESSION_ENDED' } };
    expect(await Promise.all(asked)).toMatchObject([ended, ended, ended, ended]);
    expect(served.output()).not.toContain('"fault"');
  });

  it('POST …/upload answers with "synced", GET …/fs?path= with content and size, and no link leads out of the workspace', async () => {
    const session = await open();
    const place = `/v1/sessions/${session}`;
    const large = 'é'.repeat(700_000);
    const files = [
      { path: 'src/main.ts', content: 'héllo' },
      { path: 'b.bin', content: 'AAEC/w==', encoding: 'base64' },
      { path: 'run.sh', content: '#!/bin/sh\necho ran', executable: true },
      { path: 'large.txt', content: large },
    ];
    expect(await served.ask('POST', `${place}/upload`, { files })).toMatchObject({ status: 200, body: { synced: 4 } });
    expect((await served.ask('GET', `${place}/fs?path=src/main.ts`)).body).toEqual({
      content: 'héllo',
      size: 6,
      encoding: 'utf8',
      truncated: false,
    });
    expect((await served.ask('GET', `${place}/fs?path=b.bin&encoding=base64`)).body).toMatchObject({
      content: 'AAEC/w==',
    });
    expect((await served.ask('GET', `${place}/fs?path=large.txt`)).body['content']).toBe(large);
    expect(await exec(session, './run.sh; cat src/main.ts; ls -A')).toMatchObject({
      stdout: 'ran\nhéllob.bin\nlarge.txt\nrun.sh\nsrc\n',
    });
    await exec(session, 'ln -s /etc/passwd link; ln -s / root; mkfifo pipe; ln -s /etc etc');
    for (const path of ['link', 'root/etc/passwd', 'pipe', '../../etc/passwd', '/etc/passwd', 'src', 'etc/x/y'])
      expect((await served.ask('GET', `${place}/fs?path=${encodeURIComponent(path)}`)).status, path).toBe(400);
    expect(await served.ask('GET', `${place}/fs?path=none`)).toMatchObject({
      status: 404,
      body: { code: 'FILE_MISSING' },
    });
    for (const path of ['../x', '/tmp/x', 'root/tmp/x', 'etc/x', 'a/../../x', 'src/main.ts/x'])
      expect((await served.ask('POST', `${place}/upload`, { files: [{ path, content: 'x' }] })).status, path).toBe(400);
    // A link in the file's own place is replaced, not followed.
    await served.ask('POST', `${place}/upload`, { files: [{ path: 'link', content: 'own' }], delete: ['b.bin'] });
    expect(await exec(session, 'cat link; ls -A | wc -l; ls /tmp')).toMatchObject({ stdout: 'own7\n' });
    await served.ask('DELETE', place);
  });

  it.concurrent.each([
    ['kills everything', 'kill -9 -1'],
    [
      'kills every process by its number',
      'for p in /proc/[0-9]*; do kill -9 ${p#/proc/}; kill -STOP ${p#/proc/}; done',
    ],
    ['forks without end', ':(){ :|:& };:'],
    ['takes all memory', 'head -c 900m /dev/zero | tail -c 900m | wc -c'],
    ['fills the disk', 'head -c 2g /dev/zero > big'],
    ['fills the disk with names', 'for i in $(seq 3000); do : > "file-$i"; done'],
    ['prints without end', 'timeout 1 yes'],
    ['prints what is no text', String.raw`printf '\377\376\000'; head -c 100000 /dev/urandom`],
    ['looks for the agent', 'cat /proc/*/environ /proc/*/mem; ls -l /proc/7/fd; ls /run/mahabharatha/pipes'],
    ['escapes its group', 'for i in 1 2 3; do (setsid nohup sh -c "while :; do :; done" > /dev/null 2>&1 &); done'],
    ['stops itself', 'kill -STOP $$'],
    ['ignores signals', 'trap "" TERM INT HUP; sleep 60'],
  ])('is as before for the next command and another session after one that %s', async (_, command) => {
    const [session, other] = [await open(), await open()];
    await exec(session, command, { timeout_s: 2 });
    expect(await exec(session, `rm -rf ./* 2> /dev/null; echo canary; ${ALL} | grep -c "[w]hile"`)).toMatchObject({
      stdout: 'canary\n0\n',
    });
    expect(await exec(other, 'ls -A; echo canary')).toMatchObject({ stdout: 'canary\n' });
    for (const each of [session, other]) await served.ask('DELETE', `/v1/sessions/${each}`);
  });

  it('each session runs in an isolated container: no network, no rights, a read-only root', async () => {
    const session = await open();
    const facts = await exec(
      session,
      `id -u; grep -E 'CapEff|NoNewPrivs|Groups' /proc/self/status | tr -d '\\t '; touch /x /etc/x 2>&1; ls /sys/class/net; ulimit -c; env | sort | grep -c MAHABHARATHA`,
    );
    expect(String(facts['stdout']).replace(/^19\d{8}/, 'user')).toBe(
      "user\nGroups:\nCapEff:0000000000000000\nNoNewPrivs:1\ntouch: cannot touch '/x': Read-only file system\n" +
        "touch: cannot touch '/etc/x': Read-only file system\nlo\n0\n0\n",
    );
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it.concurrent.each(['kill', 'rm --force --volumes', 'stop --time 0', 'pause'])(
    'replaces a container that "docker %s" has ended',
    async (how) => {
      const session = await open();
      await exec(session, 'touch kept; cd /tmp');
      execFileSync('docker', [...how.split(' '), ...containersOf(session)]);
      expect(await exec(session, 'ls -A; pwd')).toMatchObject({
        stdout: '/workspace/proj_abc123\n',
        workspace_lost: true,
      });
      expect(await exec(session, 'true')).toMatchObject({ workspace_lost: false });
      await served.ask('DELETE', `/v1/sessions/${session}`);
    },
  );

  it.each([
    [400, 'POST', '/v1/sessions', { project_id: '../x', runtime_type: 'shell' }],
    [400, 'POST', '/v1/sessions', { project_id: 'x', runtime_type: 'perl' }],
    [400, 'POST', '/v1/sessions', { project_id: 'x', runtime_type: 'constructor' }],
    [400, 'POST', '/v1/sessions', '{"project_id":'],
    [404, 'POST', '/v1/sessions/session_00000000/exec', { command: 'true' }],
    [404, 'GET', '/v1/sessions/..%2f..%2fetc', undefined],
    [404, 'GET', '/nowhere', undefined],
  ])('answers %i to %s %s %j, in words', async (status, method, place, body) => {
    const answer = await served.ask(method, place, body);
    expect(answer).toMatchObject({ status, body: { detail: expect.any(String), code: expect.any(String) } });
  });

  it('CORS: pages of http://localhost:3000 may ask by default; other pages, other names of the host and other types than JSON may not', async () => {
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await served.ask('GET', '/health', undefined, headers)).status;
    expect(await status({ origin: 'http://localhost:3000' })).toBe(200);
    expect(await status({ origin: 'https://evil.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ origin: served.address })).toBe(200);
    const preflight = async (origin: string): Promise<[number, string | null]> => {
      const asked = { origin, 'access-control-request-method': 'POST' };
      const { status: code, headers } = await fetch(`${served.address}/v1/sessions`, {
        method: 'OPTIONS',
        headers: asked,
      });
      return [code, headers.get('access-control-allow-origin')];
    };
    expect(await preflight('http://localhost:3000')).toEqual([204, 'http://localhost:3000']);
    expect(await preflight('https://evil.example')).toEqual([204, null]);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await served.ask('POST', '/v1/sessions', 'a=b', form)).status).toBe(415);
    expect(await served.askAs('evil.example', '/health')).toMatchObject({ code: 'HOST_REFUSED' });
    expect(await served.askAs('localhost', '/health')).toMatchObject({ status: 'ok' });
  });

  it('the denylist blocks a command however it is written, also as a stream, and runs what only reads so', async () => {
    const session = await open();
    const place = `/v1/sessions/${session}/exec`;
    for (const headers of [{}, { accept: 'text/event-stream' }]) {
      const { status, body } = await served.ask('POST', place, { command: 'cd / && rm -fr /' }, headers);
      expect([status, body]).toEqual([403, expect.objectContaining({ detail: expect.stringContaining('"rm -rf /"') })]);
    }
    expect(await exec(session, 'echo "mount"')).toMatchObject({ stdout: 'mount\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });

  it('runs the default command of the runtime when none is named', async () => {
    const session = await open();
    const { body } = await served.ask('POST', `/v1/sessions/${session}/exec`, {});
    expect(body).toMatchObject({ stdout: 'default\n' });
    await served.ask('DELETE', `/v1/sessions/${session}`);
  });
});
