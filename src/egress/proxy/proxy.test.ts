import { statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { egressWorld, KEY, listening, preambleOf, say, startOrigin, wire } from '../../../test/support/egress-world.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { createProxy, listen } from './proxy.ts';

const PUBLIC = '8.8.8.8';
const get = (url: string, more = ''): string => `GET ${url} HTTP/1.1\r\nHost: another\r\n${more}\r\n`;
const last = 'Connection: close\r\n';
const connect = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
const upgrade = (to: string): string =>
  `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: ${to}\r\nHTTP2-Settings: AAM\r\n`;

describe('plain HTTP', () => {
  it('reaches an address that the user has listed, with the Host of the address line and no header for proxies', async () => {
    const origin = await startOrigin();
    const { port, told } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`] });
    const headers =
      'Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nX-Secret: 1\r\nTE: trailers\r\nKeep-Alive: 1\r\n' +
      'X-Two: a\r\nX-Two: b\r\nAuthorization: Bearer t\r\nConnection: close, X-Secret\r\n';
    const answer = await say(port, get(`http://127.0.0.1:${origin.port}/a?b=c`, headers));
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*hello \/a\?b=c/);
    expect(origin.seen).toEqual([
      {
        line: 'GET /a?b=c',
        raw: 'x-two,a,x-two,b,authorization,Bearer t,Host,HOST,Connection,close'
          .replace('HOST', `127.0.0.1:${origin.port}`)
          .split(','),
        body: '',
      },
    ]);
    expect(told).toEqual([]);
  });

  it('passes bodies both ways, known length or chunked, and an empty one as none', async () => {
    const origin = await startOrigin();
    const { port } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`] });
    const post = (framing: string, body: string): string =>
      `POST http://127.0.0.1:${origin.port}/ HTTP/1.1\r\nHost: x\r\n${framing}\r\n\r\n${body}`;
    await say(port, post(`${last}Content-Length: 5`, '12345'));
    await say(port, post(`${last}Transfer-Encoding: chunked`, '3\r\nabc\r\n0\r\n\r\n'));
    await say(port, post(`${last}X: y`, ''));
    expect(origin.seen.map(({ body }) => body)).toEqual(['12345', 'abc', '']);
  });

  it('judges each request of a connection by itself, and ends it with the first that is refused', async () => {
    const origin = await startOrigin();
    const { port, told } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`] });
    const allowed = (path: string): string => get(`http://127.0.0.1:${origin.port}${path}`);
    const line = wire(port, allowed('/1'));
    await line.until('hello /1');
    line.socket.write(get('http://other.test/2'));
    await line.until('refused other.test:80: not on the allowlist');
    line.socket.write(allowed('/3'));
    await line.closed;
    expect(line.text().match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403']);
    expect(line.text()).toMatch(/403 Forbidden\r\n[^]*Connection: close/);
    expect(origin.seen.map((request) => request.line)).toEqual(['GET /1']);
    expect(told).toHaveLength(1);
  });

  it('answers one request at a time: a second one that comes with it is neither examined nor answered', async () => {
    const origin = await startOrigin();
    const { port, told, asked } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`, '*.test'] });
    const more = [1, 2, 3].map((number) => get(`http://${number}.test/`)).join('');
    expect((await say(port, get('http://evil.example/') + more)).match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 403']);
    const line = wire(port, get(`http://127.0.0.1:${origin.port}/1`) + more);
    await line.closed;
    expect(line.text().match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    expect([told.length, asked]).toEqual([1, []]);
  });

  it('says why it refuses a request also to a client that is still sending a large body', async () => {
    const { port } = await egressWorld({ allow: [] });
    const size = 8 * 1024 * 1024;
    const head = `POST http://evil.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`;
    const answer = await say(port, head + 'x'.repeat(size));
    expect(answer).toMatch(/^HTTP\/1.1 403 [^]*Mahabharatha refused evil.test:80: not on the allowlist/);
  });

  it('is not upgraded; an offer of HTTP/2 is ignored', async () => {
    const origin = await startOrigin();
    const { port } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`] });
    const url = `http://127.0.0.1:${origin.port}/`;
    const line = wire(port, get(url, upgrade('websocket')));
    await line.until('cannot be upgraded here');
    expect(await wire(port, get(url, upgrade('h2c'))).until('hello /')).toContain('200 OK');
    expect(origin.seen.map(({ raw }) => raw.map((text) => text.toLowerCase()))).toEqual([
      expect.not.arrayContaining(['upgrade', 'http2-settings']),
    ]);
  });

  it('says what is wrong with an answer: there is no server, or it is broken off in the middle', async () => {
    const origin = await startOrigin((_, response) => {
      response.writeHead(200, { 'Content-Length': '100' });
      response.write('half');
      setTimeout(() => response.destroy(), 20);
    });
    const free = await freePort();
    const { port, told } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`, `127.0.0.1:${free}`] });
    const unreached = await wire(port, get(`http://127.0.0.1:${free}/`)).until('does not answer');
    expect(unreached).toMatch(/^HTTP\/1.1 502 Bad Gateway/);
    expect(told).toEqual([expect.stringMatching(new RegExp(`^could not reach 127.0.0.1:${free}: .*ECONNREFUSED`))]);
    const half = await say(port, get(`http://127.0.0.1:${origin.port}/`));
    expect(half).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*half$/);
  });
});

describe('CONNECT', () => {
  it('opens a tunnel in which one side may be done before the other', async () => {
    const echo = createServer({ allowHalfOpen: true }, (socket) => {
      let text = '';
      socket.on('data', (chunk) => (text += chunk));
      socket.on('end', () => socket.end(`you said ${text}`));
    });
    const target = await listening(echo);
    const { port } = await egressWorld({ allow: [`127.0.0.1:${target}`] });
    // What is said before the answer is not lost.
    const line = wire(port, `CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: x\r\n\r\nearly `);
    await line.until('200 Connection Established\r\n\r\n');
    line.socket.end('late');
    await line.closed;
    expect(line.text().split('\r\n\r\n')[1]).toBe('you said early late');
  });

  it('ends both sides when one breaks', async () => {
    const far: Socket[] = [];
    const target = await listening(createServer((socket) => void far.push(socket.on('error', () => undefined))));
    const { port, proxy } = await egressWorld({ allow: [`127.0.0.1:${target}`] });
    const open = async (): Promise<ReturnType<typeof wire>> => {
      const line = wire(port, connect(`127.0.0.1:${target}`));
      await line.until('200');
      return line;
    };
    const first = await open();
    far[0]?.resetAndDestroy();
    await first.closed;
    const second = await open();
    second.socket.resetAndDestroy();
    await waitUntil('the far side has noticed', () => far[1]?.closed === true);
    await waitUntil('nothing is left', async () => (await connections(proxy)) === 0);
  });

  it('holds back a fast sender when the reader is slow, and loses nothing', async () => {
    const size = 64 * 1024 * 1024;
    let sender: Socket | undefined;
    const target = await listening(
      createServer((socket) => {
        sender = socket;
        const block = Buffer.alloc(1024 * 1024, 'x');
        for (let sent = 0; sent < size; sent += block.length) socket.write(block);
        socket.end();
      }),
    );
    const { port } = await egressWorld({ allow: [`127.0.0.1:${target}`] });
    const line = wire(port, connect(`127.0.0.1:${target}`));
    await line.until('200');
    line.socket.pause();
    let before = -1;
    await waitUntil('the sender is held back', async () => {
      const now = sender?.writableLength ?? 0;
      const same = now === before;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return same;
    });
    expect(before).toBeGreaterThan(size / 2);
    line.socket.resume();
    await line.closed;
    expect(line.text().split('\r\n\r\n')[1]?.length).toBe(size);
  });

  it('ends the connection while an answer to an earlier request is on its way', async () => {
    const origin = await startOrigin(() => undefined);
    const { port, dialled } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`] });
    const line = wire(port, get(`http://127.0.0.1:${origin.port}/slow`));
    await waitUntil('the first is under way', () => origin.seen.length === 1);
    line.socket.write(connect(`127.0.0.1:${origin.port}`));
    await line.closed;
    expect(dialled).toHaveLength(1);
  });
});

describe('a client that is refused', () => {
  it.each([
    ['example.com:443', 'not on the allowlist', 'add "example.com" to workers.container.allow'],
    ['example.com:8443', 'not on the allowlist', 'add "example.com:8443"'],
    ['allowed.test:22', 'only for port 443, 80', 'add "allowed.test:22"'],
    [`${PUBLIC}:443`, 'not on the allowlist', 'add "8.8.8.8:443"'],
    ['127.0.0.1:443', 'not on the allowlist', 'add "127.0.0.1:443"'],
    ['169.254.169.254:80', 'not on the allowlist', 'add "169.254.169.254:80"'],
    ['[::1]:443', 'not on the allowlist', 'add "[::1]:443"'],
    ['private.test:443', 'the name leads to 10.1.2.3, a private address', 'add "10.1.2.3:443"'],
    ['loop.test:443', "the name leads to ::1, the proxy's own loopback", 'Names may not lead there'],
    ['cloud.test:443', "leads to 169.254.169.254, a cloud's metadata service", 'Names may not lead there'],
    ['mapped.test:443', 'leads to 10.1.2.3, a private address', 'add "10.1.2.3:443"'],
    ['trusted-cloud.test:443', "a cloud's metadata service", 'Names may not lead there'],
  ])('%s: %s', async (target, reason, advice) => {
    const { port, told, dialled } = await egressWorld({
      allow: ['allowed.test', 'private.test', 'loop.test', 'cloud.test', 'mapped.test'],
      rules: [{ host: 'trusted-cloud.test', covers: 'host', ports: [443], trustedPrivate: true }],
      names: {
        'private.test': [['10.1.2.3']],
        'loop.test': [['::1']],
        'cloud.test': [['169.254.169.254']],
        'mapped.test': [['::ffff:10.1.2.3']],
        'trusted-cloud.test': [['169.254.169.254']],
      },
    });
    const answer = await say(port, connect(target));
    // The first line is all that most programs show; agents take 403 for the model's answer to their credentials.
    expect(answer.split('\r\n')[0]).toMatch(/^HTTP\/1.1 502 Mahabharatha refused /);
    expect(answer.split('\r\n')[0]).toContain(reason);
    const body = answer.split('\r\n\r\n')[1] ?? '';
    expect(body).toContain(`Mahabharatha refused ${target}: `);
    expect(body).toContain(reason);
    expect(body).toContain(advice);
    expect(body.trim().split('\n')).toHaveLength(1);
    expect(told).toEqual([expect.stringContaining(`refused ${target}: `)]);
    expect(told[0]).toContain(reason);
    expect(dialled).toEqual([]);
  });

  it('is a record in the log: whose it was, what was asked for, why not, and which entries name the host', async () => {
    const allow = ['private.test', 'private.test:8443', 'other.test'];
    const { port, records } = await egressWorld({ allow, names: { 'private.test': [['10.1.2.3']] } });
    await say(port, connect('private.test:443'));
    await say(port, connect('private.test:22'));
    await say(port, connect('other.test:443'));
    const common = { worker: 3, source: 'egress', repeat: 'first', count: 1 };
    const privateTest = { ...common, result: 'refused', host: 'private.test' };
    const rules = [{ ports: [443, 80] }, { ports: [8443] }];
    expect(records).toMatchObject([
      { ...privateTest, port: 443, reason: 'leads-inside', address: '10.1.2.3', rules },
      { ...privateTest, port: 22, reason: 'other-port', address: null, rules },
      { ...common, result: 'unreached', host: 'other.test', port: 443, reason: 'no-address', detail: 'ENOTFOUND' },
    ]);
  });

  it('is answered with the plain notation of an odd address', async () => {
    const { port } = await egressWorld({ allow: [] });
    expect(await say(port, connect('0x7f.1:80'))).toContain('refused 127.0.0.1:80: not on the allowlist');
    expect(await wire(port, get('http://2852039166/')).until('allowlist.')).toContain('refused 169.254.169.254:80');
  });

  it.each([
    'CONNECT example.org HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT user@example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    'CONNECT [fe80::1%25eth0]:443 HTTP/1.1\r\nHost: x\r\n\r\n',
    get('/local', last),
    get('https://example.org/', last),
    get('http://a:b@example.org/', last),
    'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  ])('is answered that this is a proxy: %j', async (request) => {
    const { port, asked, dialled } = await egressWorld({ allow: ['example.org'] });
    expect(await say(port, request)).toMatch(/^HTTP\/1.1 400 [^]*not what one asks a proxy for/);
    expect([asked, dialled]).toEqual([[], []]);
  });

  it('causes no look-up: only listed names are looked up', async () => {
    const { port, asked } = await egressWorld({ allow: ['*.example.org'] });
    await say(port, connect('secret.evil.test:443'));
    expect(await say(port, connect('nowhere.example.org:443'))).toMatch(/^HTTP\/1.1 502 [^]*no address \(ENOTFOUND\)/);
    expect(asked).toEqual(['nowhere.example.org']);
  });
});

describe('names', () => {
  it('are looked up once: what was checked is what is dialled, whatever the name server says next', async () => {
    const origin = await startOrigin();
    const { port, asked, dialled } = await egressWorld({
      allow: ['rebind.test'],
      names: { 'rebind.test': [[PUBLIC], ['127.0.0.1']] },
      port: origin.port,
    });
    await wire(port, get('http://rebind.test/')).until('hello /');
    expect(asked).toEqual(['rebind.test']);
    expect(dialled).toEqual([`${PUBLIC}:80`]);
    // The second connection is judged anew.
    expect(await wire(port, get('http://rebind.test/')).until('403')).toContain('loopback');
    expect(dialled).toHaveLength(1);
  });

  it('lead only to those of their addresses that may be reached', async () => {
    const origin = await startOrigin();
    const { port, dialled } = await egressWorld({
      allow: ['mixed.test'],
      names: { 'mixed.test': [['10.0.0.1', PUBLIC, '::1']] },
      port: origin.port,
    });
    await wire(port, get('http://mixed.test/')).until('hello /');
    expect(dialled).toEqual([`${PUBLIC}:80`]);
  });

  it("may lead into the user's network when they stand in the user's own configuration", async () => {
    const origin = await startOrigin();
    const { port, dialled } = await egressWorld({
      allow: [],
      rules: [{ host: 'packages.test', covers: 'host', ports: [80], trustedPrivate: true }],
      names: { 'packages.test': [['192.168.7.7']] },
      port: origin.port,
    });
    await wire(port, get('http://packages.test/')).until('hello /');
    expect(dialled).toEqual(['192.168.7.7:80']);
  });
});

describe('malformed HTTP', () => {
  const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n';

  it.each([
    ['two lengths', 'Content-Length: 5\r\nContent-Length: 0\r\n', `12345${hidden}`],
    ['length and chunks', `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${hidden}`],
    ['chunks that are not last', 'Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${hidden}`],
    ['an unknown coding', 'Transfer-Encoding: xchunked\r\n', hidden],
    ['a folded header', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n', `0\r\n\r\n${hidden}`],
    ['a space before the colon', 'Transfer-Encoding : chunked\r\nContent-Length: 3\r\n', `0\r\n\r\n${hidden}`],
    ['a chunk size that is none', 'Transfer-Encoding: chunked\r\n', `0x5\r\nhello\r\n0\r\n\r\n${hidden}`],
    ['a length that is none', 'Content-Length: +5\r\n', `12345${hidden}`],
    ['a bare line feed', 'X: y\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${hidden}`],
  ])('smuggles nothing past the proxy: %s', async (_, headers, body) => {
    const origin = await startOrigin();
    const { port } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`], limits: { headMs: 500 } });
    await say(port, `POST http://127.0.0.1:${origin.port}/ HTTP/1.1\r\nHost: x\r\n${last}${headers}\r\n${body}`);
    expect(origin.seen.filter(({ line }) => line.includes('hidden'))).toEqual([]);
  });

  it('cannot remove the length of a body by naming it in a Connection header', async () => {
    const origin = await startOrigin();
    const { port } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`] });
    const body = hidden;
    const head = `GET http://127.0.0.1:${origin.port}/ HTTP/1.1\r\nHost: x\r\nConnection: close, content-length, host\r\nContent-Length: ${body.length}\r\n\r\n`;
    await say(port, head + body);
    expect(origin.seen).toEqual([expect.objectContaining({ line: 'GET /', body })]);
    expect(origin.seen[0]?.raw.join(' ')).toContain(`Host 127.0.0.1:${origin.port}`);
  });

  it('is answered when its head is too large or too slow', async () => {
    const small = await egressWorld({ allow: [], limits: { headerBytes: 4096 } });
    expect(await say(small.port, get('http://a.test/', `X: ${'y'.repeat(8000)}\r\n`))).toContain('431');
    const hasty = await egressWorld({ allow: [], limits: { headMs: 300 } });
    expect(await say(hasty.port, 'GET http://a.test/ HTTP/1.1\r\nX: ')).toContain('408');
  });

  it('is cut off when its first line names no worker', async () => {
    const { socket, told } = await egressWorld({ allow: [], limits: { preambleMs: 300 } });
    const forged = [`worker 1 ${'0'.repeat(64)}\n`, preambleOf(1).replace('worker 1', 'worker 2'), 'worker 1\n'];
    for (const first of [get('http://a.test/'), ...forged, 'worker x\n', 'worker 1', `worker 99999\n`, '\n', '']) {
      expect(await say(socket, first)).toBe('');
    }
    expect(told).toEqual([]);
    const patient = await egressWorld({ allow: [] });
    const line = wire(patient.socket, 'work');
    line.socket.write(`${preambleOf(7).slice(4)}CONNECT a.test:1 HTTP/1.1\r\nHost: x\r\n`);
    line.socket.write('\r\n');
    await line.until('refused a.test:1');
  });
});

describe('many connections', () => {
  it('of one worker are refused beyond a number, with a reason, and others are not', async () => {
    const target = await listening(createServer((socket) => void socket.on('error', () => undefined)));
    const { port, socket, told } = await egressWorld({ allow: [`127.0.0.1:${target}`], limits: { perWorker: 3 } });
    const request = connect(`127.0.0.1:${target}`);
    const open = [1, 2, 3].map(() => wire(port, request));
    for (const line of open) await line.until('200 Connection');
    expect(await say(port, request)).toMatch(/^HTTP\/1.1 503 [^]*this worker has 3 connections already/);
    expect(told).toEqual([expect.stringContaining('this worker has 3 connections already')]);
    await wire(socket, `${preambleOf(4)}${request}`).until('200 Connection');
    open[0]?.socket.destroy();
    await waitUntil('there is room again', async () => {
      const line = wire(port, request);
      await Promise.race([line.closed, line.until('200').catch(() => undefined)]);
      return line.text().includes('200 Connection');
    });
  });

  it('of a worker whose requests are refused wait, and those of other workers do not', async () => {
    const origin = await startOrigin();
    const refusals = { most: 5, perSecond: 0.001 };
    const { port, socket, told } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`], limits: { refusals } });
    const flood = Array.from({ length: 60 }, (_, at) => wire(port, get(`http://${at}.evil.test/`).repeat(50)));
    await waitUntil('the first are refused', () => told.length > 0);
    const other = `${preambleOf(4)}${get(`http://127.0.0.1:${origin.port}/`, last)}`;
    for (let round = 0; round < 20; round += 1) expect(await say(socket, other)).toContain('hello /');
    expect(told.length).toBeLessThanOrEqual(5);
    expect(flood.filter(({ socket: { closed } }) => closed).length).toBeLessThanOrEqual(5);
  });

  it('of a worker whose requests are allowed do not wait, however many they are', async () => {
    const origin = await startOrigin();
    const refusals = { most: 2, perSecond: 0.001 };
    const { port } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`], limits: { refusals } });
    const one = get(`http://127.0.0.1:${origin.port}/`, last);
    for (let round = 0; round < 20; round += 1) {
      await Promise.all([1, 2, 3, 4].map(async () => expect(await say(port, one)).toContain('hello /')));
    }
  });

  it('that name no worker keep no other client out', async () => {
    const target = await listening(createServer((socket) => void socket.on('error', () => undefined)));
    const limits = { unnamed: 5, preambleMs: 600_000 };
    const { port, socket, proxy } = await egressWorld({ allow: [`127.0.0.1:${target}`], limits });
    const silent = Array.from({ length: 30 }, () => wire(socket));
    const forged = Array.from({ length: 16 }, (_, worker) => wire(socket, preambleOf(99).replace('99', `${worker}`)));
    await waitUntil('only five are left', () => silent.filter((line) => line.socket.closed).length >= 25);
    await Promise.all(forged.map(({ closed }) => closed));
    await wire(port, connect(`127.0.0.1:${target}`)).until('200 Connection');
    expect(await connections(proxy)).toBeLessThanOrEqual(6);
  });

  it('leave nothing behind', async () => {
    const origin = await startOrigin();
    const limits = { refusals: { most: 1000, perSecond: 1000 } };
    const { port, proxy } = await egressWorld({ allow: [`127.0.0.1:${origin.port}`], limits });
    const before = process.getActiveResourcesInfo().length;
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(
        Array.from({ length: 50 }, async (_, at) => {
          const line = wire(port, connect(`127.0.0.1:${at % 2 === 0 ? origin.port : 9}`));
          // Some go in the middle of it.
          if (at % 5 === 0) line.socket.destroy();
          else if (at % 2 === 0) await line.until('200').then(() => line.socket.end());
          await line.closed;
        }),
      );
    }
    await waitUntil('all are gone', async () => (await connections(proxy)) === 0);
    await waitUntil('no handle is left', () => process.getActiveResourcesInfo().length <= before + 5);
  });
});

describe('the socket', () => {
  it('is open to every user, and takes the place of an older one in one step', async () => {
    const file = path.join(tempFolder(), 'proxy.sock');
    writeFileSync(file, 'stale');
    const start = async (): Promise<ReturnType<typeof createProxy>> => {
      const log = { add: () => undefined, flush: () => undefined, close: () => undefined };
      const proxy = createProxy({
        rules: [],
        key: KEY,
        resolve: async () => [],
        dial: async () => Promise.reject(new Error()),
        log,
      });
      await listen(proxy, file);
      onTestFinished(() => void proxy.close());
      return proxy;
    };
    const old = await start();
    expect(statSync(file).mode & 0o777).toBe(0o777);
    await start();
    // The end of the old one does not take the new one's name away.
    await new Promise((resolve) => old.close(resolve));
    expect(await say(file, `${preambleOf(1)}${connect('a.test:1')}`)).toContain('refused a.test:1');
  });
});

function connections(server: {
  getConnections(done: (error: Error | null, count: number) => void): unknown;
}): Promise<number> {
  return new Promise((resolve) => void server.getConnections((_, count) => resolve(count)));
}
