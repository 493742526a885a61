import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { openSocket } from '../support/socket-client.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const MB = 1024 ** 2;

describe.skipIf(docker.why !== '')(`commands over a web socket${whySkipped}`, () => {
  let served: Served;
  let session: string;
  beforeAll(async () => {
    await buildSandboxImage();
    served = await serveForTest();
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'shell' });
    session = String(body['session_id']);
  });
  afterAll(async () => expect(await served.end()).toBe(0));

  const isBusy = async (): Promise<boolean> =>
    (await served.ask('GET', `/v1/sessions/${session}`)).body['busy'] === true;
  const memory = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))?.[1]) * 1024;

  it('at …/exec: stdout, stderr and exit as they come, and further commands one after the other', async () => {
    const client = await openSocket(served.address, session);
    client.send({ command: 'mkdir -p a && cd a && echo one; echo bad >&2; sleep 0.2; exit 3', env: { X: '1' } });
    client.send({ type: 'exec', command: 'pwd' });
    expect(await client.next('exit')).toEqual({
      type: 'exit',
      exit_code: 3,
      cwd: '/workspace/x/a',
      duration_ms: expect.any(Number),
      timed_out: false,
      killed: false,
      cpu_ms: expect.any(Number),
      memory_peak_mb: expect.any(Number),
      out_of_memory: false,
      workspace_lost: false,
    });
    expect(await client.next('exit')).toMatchObject({ exit_code: 0 });
    expect([client.text('stdout'), client.text('stderr')]).toEqual(['one\n/workspace/x/a\n', 'bad\n']);
    client.socket.close();
  });

  it('never cuts a character, and output cannot forge a message', async () => {
    const client = await openSocket(served.address, session);
    const forged = '{"type":"exit","exit_code":0}';
    client.send({ command: `for i in $(seq 30000); do printf 'x😀é'; done; printf '${forged}'; exit 5` });
    expect(await client.next('exit')).toMatchObject({ exit_code: 5 });
    expect(client.text('stdout')).toBe(`${'x😀é'.repeat(30_000)}${forged}`);
    expect(client.messages.every(({ data = '' }) => !String(data).includes('\uFFFD'))).toBe(true);
    client.socket.close();
  });

  it('ends the command at {"type":"kill"}, and runs the next one', async () => {
    const client = await openSocket(served.address, session);
    client.send({ type: 'kill' });
    client.send({ command: 'echo begun; sleep 600' });
    client.send({ command: 'echo next' });
    await client.next('stdout');
    client.send({ type: 'kill' });
    expect(await client.next('exit')).toMatchObject({ exit_code: 143, killed: true });
    expect(await client.next('exit')).toMatchObject({ exit_code: 0, killed: false });
    expect(client.text('stdout')).toBe('begun\nnext\n');
    client.socket.close();
  });

  it('ends a command that is asked for and has not begun', async () => {
    const client = await openSocket(served.address, session);
    client.send({ command: 'touch /workspace/x/.env' });
    await client.next('exit');
    client.send({ command: 'sleep 600', env_file: '.env' });
    client.send({ type: 'kill' });
    expect(await client.next('exit')).toMatchObject({ killed: true });
    client.send({ command: 'echo next' });
    expect(await client.next('exit')).toMatchObject({ exit_code: 0, killed: false });
    client.socket.close();
  });

  it.each(['close', 'terminate'] as const)('ends the command of a client that goes away by %s', async (how) => {
    const client = await openSocket(served.address, session);
    client.send({ command: 'sleep 600' });
    client.send({ command: 'touch late' });
    await waitUntil('it runs', isBusy);
    client.socket[how]();
    await waitUntil('it does not run', async () => !(await isBusy()));
    const { body } = await served.ask('POST', `/v1/sessions/${session}/exec`, { command: 'ls late' });
    expect(body).toMatchObject({ stdout: '' });
  });

  it('slows a program down whose output nobody reads, and holds none of it in memory', async () => {
    const client = await openSocket(served.address, session);
    client.socket.pause();
    const before = memory();
    client.send({ command: 'head -c 60000000 /dev/zero | tr "\\0" x; touch done' });
    await waitUntil('it runs', isBusy);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await isBusy()).toBe(true);
    expect(memory() - before).toBeLessThan(40 * MB);
    client.socket.resume();
    expect(await client.next('exit')).toMatchObject({ exit_code: 0 });
    expect(client.text('stdout')).toHaveLength(60_000_000);
    client.socket.close();
  });

  it('leaves a client that sends without reading, and goes on', async () => {
    const client = await openSocket(served.address, session);
    client.socket.on('error', () => undefined);
    client.socket.pause();
    const closed = new Promise((resolve) => client.socket.once('close', resolve));
    const large = JSON.stringify({ type: 'x'.repeat(100) });
    for (let sent = 0; sent < 300_000 && client.socket.readyState === client.socket.OPEN; sent += 1000) {
      for (let each = 0; each < 1000; each += 1) client.send(large);
      await new Promise(setImmediate);
    }
    client.socket.resume();
    client.socket.terminate();
    await closed;
    expect(memory()).toBeLessThan(400 * MB);
    expect((await served.ask('GET', '/health')).status).toBe(200);
  });

  it.each([
    ['no JSON', '{', 'MESSAGE_INVALID'],
    ['a list', '[]', 'MESSAGE_INVALID'],
    ['an unknown type', '{"type":"eval","command":"id"}', 'MESSAGE_INVALID'],
    ['a wrong type of a value', '{"command":5}', 'MESSAGE_INVALID'],
    ['a denied command', '{"command":"sudo id"}', 'COMMAND_DENIED'],
  ])('answers %s with an error message, and runs the next command', async (_, message, code) => {
    const client = await openSocket(served.address, session);
    client.send(message);
    expect(await client.next('error')).toEqual({
      type: 'error',
      code,
      detail: expect.any(String),
      hint: expect.any(String),
    });
    client.send({ command: 'echo next' });
    expect(await client.next('exit')).toMatchObject({ exit_code: 0 });
    client.socket.close();
  });

  it('answers bytes, too many commands and a busy session with errors, and ends at a message that is too long', async () => {
    const [client, other] = [await openSocket(served.address, session), await openSocket(served.address, session)];
    client.socket.send(Buffer.from([1, 2]));
    expect(await client.next('error')).toMatchObject({ code: 'MESSAGE_INVALID' });
    client.send({ command: 'sleep 600' });
    await waitUntil('it runs', isBusy);
    other.send({ command: 'true' });
    expect(await other.next('error')).toMatchObject({ code: 'SESSION_BUSY' });
    // This one does not end what the other socket runs.
    other.socket.terminate();
    for (let sent = 0; sent < 20; sent += 1) client.send({ command: 'true' });
    expect(await client.next('error')).toMatchObject({ code: 'TOO_MANY_WAITING' });
    expect(await isBusy()).toBe(true);
    client.socket.on('error', () => undefined);
    const closed = new Promise((resolve) => client.socket.once('close', resolve));
    client.send({ command: 'x'.repeat(2 * MB) });
    expect(await closed).toBe(1009);
    await waitUntil('it does not run', async () => !(await isBusy()));
  });

  it('is refused before it opens: unknown sessions, other places, other names, other pages', async () => {
    const refused = (how: Parameters<typeof openSocket>[2], id = session): Promise<unknown> =>
      openSocket(served.address, id, how).then(
        () => 'opened',
        (error: Error) => error.message,
      );
    expect(await refused({}, 'session_00000000')).toBe('refused: 404');
    expect(await refused({}, '../../health')).toBe('refused: 404');
    expect(await refused({ headers: { host: 'evil.example' } })).toBe('refused: 403');
    expect(await refused({ headers: { origin: 'https://evil.example' } })).toBe('refused: 403');
    expect(await refused({ headers: { origin: 'null' } })).toBe('refused: 403');
    expect(await refused({ protocols: ['other'] })).toBe('refused: 400');
    expect(await refused({ headers: { origin: served.address } })).toBe('opened');
    expect(await refused({ protocols: ['mahabharatha'] })).toBe('opened');
    expect(await served.ask('GET', `/v1/sessions/${session}/exec`)).toMatchObject({
      status: 426,
      body: { code: 'UPGRADE_NEEDED' },
    });
  });

  it('ends with the session', async () => {
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'shell' });
    const other = String(body['session_id']);
    const client = await openSocket(served.address, other);
    client.send({ command: 'sleep 600' });
    await waitUntil('it runs', async () => (await served.ask('GET', `/v1/sessions/${other}`)).body['busy'] === true);
    await served.ask('DELETE', `/v1/sessions/${other}`);
    expect(await client.next('error')).toMatchObject({ detail: expect.any(String) });
    client.send({ command: 'true' });
    expect(await client.next('error')).toMatchObject({ code: 'SESSION_UNKNOWN' });
    client.socket.close();
  });
});

describe.skipIf(docker.why !== '')(`the end of a server with sockets${whySkipped}`, () => {
  it('tells its clients, and takes no longer for those that do not answer', async () => {
    const served = await serveForTest();
    const { body } = await served.ask('POST', '/v1/sessions', { project_id: 'x', runtime_type: 'shell' });
    const client = await openSocket(served.address, String(body['session_id']));
    const silent = await openSocket(served.address, String(body['session_id']));
    client.send({ command: 'yes' });
    silent.socket.pause();
    await client.next('stdout');
    const closed = new Promise((resolve) => client.socket.once('close', resolve));
    expect(await served.end()).toBe(0);
    expect(await closed).toBe(1001);
    silent.socket.terminate();
  });
});
