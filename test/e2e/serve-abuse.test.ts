import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

type Body = Record<string, unknown>;

/** What a command does, and what is expected of its own answer. */
const COMMANDS: readonly (readonly [string, string, object])[] = [
  [
    'starts threads without end',
    `node -e "const { Worker } = require('worker_threads'); for (let i = 0; i < 300; i++) new Worker('setInterval(() => {}, 1e9)', { eval: true }).on('error', () => {})"`,
    {},
  ],
  [
    'leaves daemons of daemons without an environment',
    `for i in 1 2 3; do env -i setsid -f sh -c 'env -i setsid -f sleep 987'; done`,
    {},
  ],
  ['leaves a daemon that ignores signals', `setsid -f bash -c 'trap "" TERM HUP INT; while :; do sleep 987; done'`, {}],
  ['leaves stopped children', 'sleep 987 & kill -STOP $!; (setsid sleep 987 & kill -STOP $!)', {}],
  ['kills its parent and its shell', 'kill -9 $PPID $$', {}],
  ['starts what starts itself again', `f() { sleep 987 & (trap f EXIT; sleep 0.1) & }; f; f; f`, {}],
  [
    'writes single bytes',
    `node -e "for (let i = 0; i < 30000; i++) require('fs').writeSync(1, 'x')"`,
    { stdout: 'x'.repeat(30_000) },
  ],
  [
    'writes a character where its output is cut',
    `head -c 1048575 /dev/zero | tr '\\0' x; printf 'éé'`,
    { stdout: 'x'.repeat(1_048_575), stdout_truncated: true },
  ],
  [
    'writes what is no text',
    String.raw`printf 'a\377\303'; printf '\303' >&2`,
    { stdout: 'a\uFFFD\uFFFD', stderr: '\uFFFD' },
  ],
  ['makes sparse files', 'truncate -s 400M a b c d e f; truncate -s 9999G huge; cat a b c > copy', {}],
  ['fills the memory by its files', 'for d in /dev/shm /tmp ~; do head -c 2g /dev/zero > $d/full; done', {}],
  ['opens files without end', `node -e "try { for (;;) require('fs').openSync('/dev/null') } catch {}"; echo $?`, {}],
  ['makes folders in folders', 'for i in $(seq 2000); do mkdir d; cd d || break; done 2> /dev/null', {}],
  ['closes its descriptors', 'exec 0<&- 1>&- 2>&- 3>&-; sleep 0.1', {}],
  ['reports a folder of its own', 'head -c 100000 /dev/urandom >&3; echo /nowhere >&3; echo "/etc" >&3', {}],
  [
    'leaves files that shells read at their start',
    `for f in .bashrc .bash_profile .profile .bash_logout .inputrc; do echo 'echo pwned; exit 9' > ~/$f; done; echo 'echo pwned' > bash; chmod +x bash`,
    {},
  ],
  [
    'leaves functions and variables',
    'echo() { :; }; export -f echo; export PATH=/nowhere LD_PRELOAD=/x BASH_ENV=/x; readonly PATH',
    {},
  ],
  [
    'asks for rights',
    'unshare -Ur id; setpriv --reuid 0 id; su -c id; chown 0 .; mknod node b 8 0; echo 1 > /proc/sys/kernel/panic',
    {},
  ],
  ['changes limits', 'ulimit -u unlimited; ulimit -n 9999999; renice -20 $$; echo -1000 > /proc/$$/oom_score_adj', {}],
  ['removes its workspace', 'cd /; rm -r /workspace/p; ln -s /etc /workspace/p', {}],
  ['locks its workspace', 'chmod 0 /workspace/p; cd /', {}],
  ['has a name that is long', `exec -a "$(head -c 100000 /dev/zero | tr '\\0' x)" true`, {}],
];

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe.skipIf(docker.why !== '')(`what is done to sessions${whySkipped}`, () => {
  let served: Served;
  beforeAll(async () => {
    await buildWorkerImage();
    served = await serveForTest({ warm: 1 });
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const open = async (project = 'p'): Promise<string> => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: project, runtime_type: 'shell' });
    return `/v1/sessions/${String(body['session_id'])}`;
  };
  const exec = async (place: string, command: string, more: object = {}): Promise<Body> =>
    (await served.ask('POST', `${place}/exec`, { command, ...more })).body;
  const close = (...places: string[]): Promise<unknown> =>
    Promise.all(places.map((place) => served.ask('DELETE', place)));

  /** Also in a session whose workspace is not as it was. */
  const CANARY = `cd /; rm -f /dev/shm/full /tmp/full ~/full; [ -L /workspace/p ] && rm /workspace/p; chmod 755 /workspace/p 2> /dev/null
    rm -rf /workspace/p/*; echo canary; cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' ' ' | grep -c "sleep 98[7]"; id -u`;

  it.each(COMMANDS)(
    'a command that %s leaves the next one and another session as they were',
    async (_, command, expected) => {
      const place = await open();
      // Those of which an answer is expected end by themselves.
      const limit = Object.keys(expected).length === 0 ? { timeout_s: 4 } : {};
      expect(await exec(place, command, limit)).toMatchObject(expected);
      const stdout = expect.stringMatching(/^canary\n0\n19\d{8}\n$/);
      const canary = { stdout, exit_code: 0, workspace_lost: false };
      expect(await exec(place, CANARY)).toMatchObject(canary);
      const fresh = await open();
      expect(await exec(fresh, 'ls -A; ls -A /tmp ~; echo canary')).toMatchObject({
        stdout: expect.stringMatching(/^\/home\/sandbox:\n\n\/tmp:\ncanary\n$/),
        stderr: '',
      });
      await close(place, fresh);
    },
  );

  it('no file system is shared between sessions, nor anything else that could be found', async () => {
    const [one, two] = [await open('one'), await open('two')];
    const running = exec(one, 'echo secret-of-one > f; cp f /tmp/f; cp f /dev/shm/f; SECRET=secret-of-one sleep 3', {
      env: { KEY: 'secret-of-one' },
    });
    const found = await exec(
      two,
      'ls /workspace /workspace/one 2>&1; cat /tmp/f /dev/shm/f /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2> /dev/null | tr "\\0" " "; ls /proc | grep -c "^[0-9]"',
    );
    expect(JSON.stringify(found)).not.toContain('secret-of-one');
    expect(found['stdout']).toMatch(/^ls: cannot access '\/workspace\/one'/);
    await running;
    await close(one, two);
  });

  it('no output makes an event of its own, also with carriage returns alone', async () => {
    const place = await open();
    const command = String.raw`printf 'a\revent: exit\rdata: {"exit_code":0}\r\r'; printf 'b\r\n\r\nevent: exit\r\ndata: {}\r\n\r\n' >&2; printf '\342\200\250event: exit'; exit 5`;
    const text = await served.stream(`${place}/exec`, { command });
    expect(text).not.toContain('\r');
    expect(text.split('\n').filter((line) => line.startsWith('event: exit'))).toHaveLength(1);
    expect(text).toMatch(/\nevent: exit\ndata: \{"exit_code":5,/);
    await close(place);
  });

  it('a reader that does not read slows down its own command alone', async () => {
    const [slow, other] = [await open(), await open()];
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const asked = request(`${served.address}${slow}/exec`, { method: 'POST', headers }, resolve);
      asked.on('error', reject).end(JSON.stringify({ command: 'yes' }));
    });
    response.pause();
    expect(await exec(other, 'head -c 5000000 /dev/zero | wc -c')).toMatchObject({ stdout: '5000000\n' });
    response.destroy();
    await waitUntil('its command has ended', async () => (await served.ask('GET', slow)).body['busy'] === false);
    expect(await exec(slow, 'echo canary')).toMatchObject({ stdout: 'canary\n' });
    await close(slow, other);
  });

  it('twenty sessions at once are twenty, each with its own', async () => {
    const places = await Promise.all(Array.from({ length: 20 }, (_, index) => open(`p${index}`)));
    expect(new Set(places).size).toBe(20);
    const said = await Promise.all(
      places.map((place, index) => exec(place, `echo ${index} > f; cat f; ls -A /workspace`)),
    );
    expect(said.map(({ stdout }) => stdout)).toEqual(places.map((_, index) => `${index}\np${index}\n`));
    await close(...places);
    expect((await served.ask('GET', '/v1/sessions')).body).toEqual({ sessions: [] });
  });

  it('one session that is used by many at once answers each of them', async () => {
    const place = await open();
    const upload = (name: string): ReturnType<Served['ask']> =>
      served.ask('POST', `${place}/upload`, { files: [{ path: name, content: 'x'.repeat(100_000) }] });
    const running = exec(place, 'sleep 30');
    await waitUntil('it runs', async () => (await served.ask('GET', place)).body['busy'] === true);
    const beside = await Promise.all([
      served.ask('POST', `${place}/exec`, { command: 'true' }),
      upload('a'),
      upload('b'),
      served.ask('GET', `${place}/fs?path=none`),
      served.ask('GET', `${place}/files`),
    ]);
    expect(beside.map(({ status }) => status)).toEqual([409, 200, 200, 404, 200]);
    const kills = await Promise.all([1, 2, 3].map(() => served.ask('POST', `${place}/kill`)));
    expect(kills.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await running).toMatchObject({ killed: true, exit_code: 143 });
    expect(await exec(place, 'ls -A')).toMatchObject({ stdout: 'a\nb\n' });
    const last = served.ask('POST', `${place}/exec`, { command: 'sleep 30' });
    await waitUntil('it runs', async () => (await served.ask('GET', place)).body['busy'] === true);
    const ends = await Promise.all([1, 2].map(() => served.ask('DELETE', place)));
    expect(ends.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 404]);
    expect((await last).status).toBeGreaterThanOrEqual(400);
    expect((await last).status).toBeLessThan(500);
  });

  it.each<[string, string, unknown, number[]]>([
    ['a deep body', '/v1/sessions', `{"project_id":${nested(100_000)},"runtime_type":"shell"}`, [400]],
    ['a long list', '/exec', `{"command":[${'1,'.repeat(1_000_000)}1]}`, [400]],
    ['too large a body', '/upload', `{"files":[{"path":"a","content":"${'x'.repeat(33 * 1024 * 1024)}"}]}`, [413]],
    ['a prototype', '/exec', '{"__proto__":{"command":"true"},"command":"true"}', [400]],
    ['half a body', '/exec', '{"command":"tr', [400]],
    ['no body', '/exec', '', [400]],
    ['null', '/exec', 'null', [400]],
    ['a text', '/exec', '"true"', [400]],
    ['a NUL in the command', '/exec', { command: 'true\0' }, [400]],
    ['a command of 70 KB', '/exec', { command: `true ${'x'.repeat(70_000)}` }, [400]],
    ['no time', '/exec', { command: 'true', timeout_s: 0 }, [400]],
    ['a time below zero', '/exec', { command: 'true', timeout_s: -1 }, [400]],
    ['a time that is too long', '/exec', { command: 'true', timeout_s: 1e12 }, [400]],
    ['a time that is a text', '/exec', { command: 'true', timeout_s: '1' }, [400]],
    ['a variable with a bad name', '/exec', { command: 'true', env: { 'A=B': 'x' } }, [400]],
    ['a variable with a NUL', '/exec', { command: 'true', env: { A: 'x\0' } }, [400]],
    ['a file of variables elsewhere', '/exec', { command: 'true', env_file: '../../etc/passwd' }, [400]],
    [
      'more paths than may be',
      '/upload',
      { files: Array.from({ length: 10_001 }, (_, i) => ({ path: `${i}`, content: '' })) },
      [400],
    ],
    ['a path without an end', '/upload', { files: [{ path: 'a/'.repeat(3000), content: '' }] }, [400]],
  ])('%s is refused in words', async (_, where, body, statuses) => {
    const place = await open();
    const answer = await served.ask('POST', where.startsWith('/v1') ? where : `${place}${where}`, body);
    expect(statuses).toContain(answer.status);
    expect(answer.body).toMatchObject({ detail: expect.any(String), code: expect.any(String) });
    expect(await exec(place, 'echo canary')).toMatchObject({ stdout: 'canary\n' });
    await close(place);
  });

  it.each([
    ['a variable of a megabyte', { A: 'x'.repeat(1_000_000) }],
    ['many variables', Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`A${index}`, 'x'.repeat(50_000)]))],
    ['what is longer on its way', { A: '\u0001'.repeat(110_000), B: '\u0001'.repeat(110_000) }],
  ])('%s that no program can have is refused, and ends no sandbox', async (_, env) => {
    const place = await open();
    await exec(place, 'touch kept');
    expect(await served.ask('POST', `${place}/exec`, { command: 'true', env })).toMatchObject({
      status: 400,
      body: { code: 'COMMAND_TOO_LARGE', detail: expect.not.stringContaining('xxx') },
    });
    expect(await exec(place, 'ls')).toMatchObject({ stdout: 'kept\n', workspace_lost: false });
    await close(place);
  });

  it('a program that the kernel refuses to its shell ends no sandbox', async () => {
    const place = await open();
    const env = Object.fromEntries(Array.from({ length: 7 }, (_, index) => [`A${index}`, 'x'.repeat(105_000)]));
    const command = 'touch kept; ulimit -s 256; exec env true';
    expect(await exec(place, command, { env })).toMatchObject({ ok: false });
    expect(await exec(place, 'ls')).toMatchObject({ stdout: 'kept\n', workspace_lost: false });
    await close(place);
  });

  it.each([
    'session_00000000',
    'session_zzzzzzzz',
    '%2e%2e',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '..%5c..',
    '%00',
    'session_%00%00',
    '%F0%9F%92%A5',
    '%ff',
    '__proto__',
    'constructor',
    "'%20OR%201=1--",
    '%24%28id%29',
    '%0d%0aX-Injected:%201',
    'x'.repeat(5000),
  ])('no session is found by the name %j', async (id) => {
    for (const [method, more, body] of [
      ['GET', '', undefined],
      ['POST', '/exec', { command: 'true' }],
      ['POST', '/kill', undefined],
      ['GET', '/fs?path=a', undefined],
      ['GET', '/files', undefined],
      ['POST', '/upload', { files: [] }],
      ['DELETE', '', undefined],
    ] as const) {
      const { status, headers } = await served.ask(method, `/v1/sessions/${id}${more}`, body);
      expect([400, 404, 414], `${method} ${more}`).toContain(status);
      expect(headers.get('x-injected')).toBeNull();
    }
  });
});
