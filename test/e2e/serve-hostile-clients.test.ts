import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { serveForTest } from '../support/served.ts';
import type { Served } from '../support/served.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const BODY = '{"project_id":"x","runtime_type":"shell"}';
const head = (...lines: string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const POST = 'POST /v1/sessions HTTP/1.1';
const HOST = 'Host: localhost';
const JSON_TYPE = 'Content-Type: application/json';
const length = (bytes: number): string => `Content-Length: ${bytes}`;
const UPGRADE = ['Connection: Upgrade', 'Upgrade: websocket'];
const OTHER = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];
const SOCKET = 'GET /v1/sessions/session_00000000/exec HTTP/1.1';

/** Sends these bytes and no more. */
function send(served: Served, bytes: string): Socket {
  const { hostname, port } = new URL(served.address);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.write(bytes);
  return socket;
}

/** The status of the answer, and undefined for a connection that is closed without one. */
function statusOf(served: Served, bytes: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = send(served, bytes);
    const done = (): void => {
      const [, status] = /^HTTP\/1\.[01] (\d{3}) /.exec(text) ?? [];
      socket.destroy();
      resolve(status === undefined ? undefined : Number(status));
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n')) done();
    });
    socket.on('close', done);
  });
}

describe.skipIf(docker.why !== '')(`clients that do not keep to the rules${whySkipped}`, { concurrent: true }, () => {
  beforeAll(buildSandboxImage);

  it('get an answer that says so, and the server goes on', async () => {
    const served = await serveForTest();
    const cases: readonly (readonly [string, number | undefined, string])[] = [
      [
        'a form that a page may send without being asked',
        415,
        head(POST, HOST, 'Content-Type: text/plain', length(BODY.length)) + BODY,
      ],
      ['no type', 415, head(POST, HOST, length(BODY.length)) + BODY],
      ['a type that begins so', 415, head(POST, HOST, 'Content-Type: application/jsonx', length(BODY.length)) + BODY],
      ['two types', 415, head(POST, HOST, 'Content-Type: text/plain', JSON_TYPE, length(BODY.length)) + BODY],
      ['two names', 403, head('GET /health HTTP/1.1', HOST, 'Host: evil.example')],
      ['two names in the other order', 403, head('GET /health HTTP/1.1', 'Host: evil.example', HOST)],
      [
        'two origins',
        403,
        head('GET /health HTTP/1.1', HOST, 'Origin: http://localhost', 'Origin: http://evil.example'),
      ],
      ['no name', 400, head('GET /health HTTP/1.1')],
      ['no name, in the old protocol', 403, head('GET /health HTTP/1.0')],
      ['the address of another server', 403, head('GET http://evil.example/health HTTP/1.1', HOST)],
      ['two lengths', 400, head(POST, HOST, JSON_TYPE, length(5), length(6)) + BODY],
      ['a length and pieces', 400, head(POST, HOST, JSON_TYPE, length(5), 'Transfer-Encoding: chunked') + BODY],
      ['a length that is none', 400, head(POST, HOST, JSON_TYPE, 'Content-Length: -1')],
      ['headers of 100 KB', 431, head('GET /health HTTP/1.1', HOST, `X: ${'x'.repeat(100_000)}`)],
      ['an address of 100 KB', 431, head(`GET /${'x'.repeat(100_000)} HTTP/1.1`, HOST)],
      ['what is no request', 400, 'hello\r\n\r\n'],
      ['the begin of a secure connection', 400, '\u0016\u0003\u0001\u0002\u0000\u0001'],
      ['a body that is too long', 413, head(POST, HOST, JSON_TYPE, length(40 * 1024 ** 2))],
      ['a proxy’s method', undefined, head('CONNECT evil.example:443 HTTP/1.1', HOST)],
      ['a method that nothing has', 404, head('TRACE /health HTTP/1.1', HOST)],
      ['another protocol, which is an offer', 200, head('GET /health HTTP/1.1', HOST, ...OTHER)],
      ['another protocol, with a body', 200, head(POST, HOST, JSON_TYPE, length(BODY.length), ...OTHER) + BODY],
      ['another protocol, by another name', 403, head('GET /health HTTP/1.1', 'Host: evil.example', ...OTHER)],
      ['another protocol, two lengths', 400, head(POST, HOST, JSON_TYPE, length(5), length(6), ...OTHER) + BODY],
      [
        'a socket of no session',
        404,
        head(SOCKET, HOST, ...UPGRADE, 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='),
      ],
      ['a socket by another name', 403, head(SOCKET, 'Host: evil.example', ...UPGRADE)],
      ['a socket with a body', 404, head(SOCKET.replace('GET', 'POST'), HOST, ...UPGRADE, length(5)) + 'hello'],
      ['a path with a half sign', 400, head('GET /v1/sessions/%E0%A4%A HTTP/1.1', HOST)],
    ];
    const answers = await Promise.all(cases.map(async ([what, , bytes]) => [what, await statusOf(served, bytes)]));
    expect(answers).toEqual(cases.map(([what, expected]) => [what, expected]));
    const { body } = await served.ask('POST', '/v1/sessions', BODY);
    const place = `/v1/sessions/${String(body['session_id'])}/exec`;
    const wrong = head(`GET ${place} HTTP/1.1`, HOST, ...UPGRADE, 'Sec-WebSocket-Version: 99', 'Sec-WebSocket-Key: x');
    expect(await statusOf(served, wrong)).toBe(400);
    expect((await served.ask('POST', place, { command: 'echo canary' })).body).toMatchObject({ stdout: 'canary\n' });
    expect(await served.end()).toBe(0);
  });

  it('do not keep others waiting, nor the end of the server: silence, halves of requests, readers that stop', async () => {
    const served = await serveForTest();
    const { body } = await served.ask('POST', '/v1/sessions', BODY);
    const place = `/v1/sessions/${String(body['session_id'])}/exec`;
    const command = JSON.stringify({ command: 'yes' });
    const streamed = head(
      `POST ${place} HTTP/1.1`,
      HOST,
      JSON_TYPE,
      'Accept: text/event-stream',
      length(command.length),
    );
    const sockets = [
      ...Array.from({ length: 100 }, () => send(served, '')),
      ...Array.from({ length: 100 }, () => send(served, `${POST}\r\n${HOST}\r\n`)),
      ...Array.from({ length: 100 }, () =>
        send(served, head(POST, HOST, JSON_TYPE, length(BODY.length)) + BODY.slice(0, 9)),
      ),
      ...Array.from({ length: 20 }, () => send(served, head('GET /openapi.json HTTP/1.1', HOST).repeat(50))),
    ];
    const reader = send(served, streamed + command);
    reader.pause();
    sockets.push(reader);
    const isBusy = async (): Promise<boolean> =>
      (await served.ask('GET', place.replace('/exec', ''))).body['busy'] === true;
    await waitUntil('it runs', isBusy);
    expect((await served.ask('POST', '/execute/shell', { code: 'echo next' })).body).toMatchObject({
      stdout: 'next\n',
    });
    expect(await served.end()).toBe(0);
    for (const socket of sockets) socket.destroy();
  });

  it('have no more than the server can take, all together: bodies that are under way', async () => {
    const served = await serveForTest();
    const { body } = await served.ask('POST', '/v1/sessions', BODY);
    const upload = `POST /v1/sessions/${String(body['session_id'])}/upload HTTP/1.1`;
    const large = head(upload, HOST, JSON_TYPE, length(32 * 1024 ** 2));
    const silent = Array.from({ length: 8 }, () => send(served, large + ' '));
    const code = { code: 'echo small' };
    const again = `/v1/sessions/${String(body['session_id'])}/upload`;
    const whole = { files: [{ path: 'a', content: 'x'.repeat(20 * 1024 ** 2) }] };
    expect((await served.ask('POST', '/execute/shell', code)).body).toMatchObject({ stdout: 'small\n' });
    expect((await served.ask('POST', again, whole)).status).toBe(200);
    const most = large + ' '.repeat(31 * 1024 ** 2);
    const senders: Socket[] = [];
    await waitUntil('there is no room', async () => {
      // Those that come while another upload is there are refused themselves.
      senders.push(send(served, most), send(served, most));
      return (await served.ask('POST', again, whole)).status === 503;
    });
    expect((await served.ask('POST', '/execute/shell', code)).body).toMatchObject({ stdout: 'small\n' });
    for (const socket of [...silent, ...senders]) socket.destroy();
    await waitUntil('there is room again', async () => (await served.ask('POST', again, whole)).status === 200);
    expect(await served.end()).toBe(0);
  });

  it('have no more than the server can take, all together: answers that they do not read', async () => {
    const served = await serveForTest();
    const { body } = await served.ask('POST', '/v1/sessions', BODY);
    const place = `/v1/sessions/${String(body['session_id'])}`;
    // As JSON, each of its bytes has six characters.
    await served.ask('POST', `${place}/exec`, { command: 'head -c 16M /dev/zero > zeros; echo small > small' });
    const asked = head(`GET ${place}/fs?path=zeros HTTP/1.1`, HOST);
    const readers = Array.from({ length: 60 }, () => send(served, asked).pause());
    const read = async (path: string): Promise<number> => (await served.ask('GET', `${place}/fs?path=${path}`)).status;
    await waitUntil('there is no room', async () => (await read('zeros')) === 503);
    expect(await read('small')).toBe(200);
    expect((await served.ask('POST', '/execute/shell', { code: 'echo small' })).body).toMatchObject({
      stdout: 'small\n',
    });
    for (const socket of readers) socket.destroy();
    await waitUntil('there is room again', async () => (await read('zeros')) === 200);
    expect(await served.end()).toBe(0);
  });

  it.each(['a stream', 'an answer that is awaited', 'a program'])(
    'SIGTERM ends the server in order during %s',
    async (what) => {
      const served = await serveForTest();
      const { body } = await served.ask('POST', '/v1/sessions', BODY);
      const place = `/v1/sessions/${String(body['session_id'])}`;
      const wish = { command: "trap '' TERM; yes" };
      const asked = (
        what === 'a program'
          ? served.ask('POST', '/execute/shell', { code: 'sleep 8' })
          : what === 'a stream'
            ? served.stream(`${place}/exec`, wish)
            : served.ask('POST', `${place}/exec`, wish)
      ).then(
        () => 'answered',
        () => 'broken off',
      );
      const metrics = async (): Promise<string> => (await fetch(`${served.address}/metrics`)).text();
      const sign = what === 'a program' ? 'programs_running{language="shell"} 1' : 'sessions_busy 1';
      await waitUntil('it runs', async () => (await metrics()).includes(sign));
      expect(await served.end()).toBe(0);
      expect(['answered', 'broken off']).toContain(await asked);
    },
  );
});
