import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createServer } from './server.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { addSocketRoute } from './web-socket.ts';

const admission = { check: () => undefined, checkRate: () => undefined };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const TOKEN = 'right/token=of anna'.replaceAll(' ', '+');
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  vi.useRealTimers();
  await close?.();
});

/** A server whose sockets greet the user. */
async function listening(): Promise<string> {
  const guarding = { tokens: new Map([[TOKEN, 'anna']]), origins: [], names: 'any' as const };
  const server = createServer({ routes: [], guarding, admission, version: '1', log: silent });
  addSocketRoute(server, guarding, {
    path: /^\/hello\/(\w+)$/,
    open: (user, part) => (line) => {
      void line.send({ user, part });
      return { isBusy: () => part === 'busy' };
    },
  });
  close = () => server.close();
  await server.listen({ host: '127.0.0.1', port: 0 });
  return `ws://127.0.0.1:${(server.server.address() as AddressInfo).port}/hello/x`;
}

function asked(url: string, protocols: string[], headers = {}): Promise<[protocol: string, message: string] | string> {
  const socket = new WebSocket(url, protocols, { headers });
  return new Promise((resolve) => {
    socket.on('error', (error) => resolve(error.message));
    socket.once('message', (data: Buffer) => {
      resolve([socket.protocol, data.toString('utf8')]);
      socket.close();
    });
  });
}

it('a session has at most 32 sockets open, and a user 64', async () => {
  const url = await listening();
  const protocols = ['mahabharatha', `bearer.${encodeURIComponent(TOKEN)}`];
  const open: WebSocket[] = [];
  const opened = async (session: string): Promise<boolean> => {
    const socket = new WebSocket(url.replace(/x$/, session), protocols);
    open.push(socket);
    return new Promise((resolve) => {
      socket.once('open', () => resolve(true));
      socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode !== 429));
      socket.on('error', () => undefined);
    });
  };
  for (const session of ['a', 'b']) {
    for (let count = 0; count < 32; count += 1) expect(await opened(session)).toBe(true);
    expect(await opened(session)).toBe(false);
  }
  expect(await opened('e')).toBe(false);
  open[0]?.close();
  await waitUntil('there is a place again', () => opened('a'));
  for (const socket of open) socket.terminate();
});

const REFUSED = 'Unexpected server response: 401';
const GREETED = '{"user":"anna","part":"x"}';

it.each([
  ['no token', [], {}, REFUSED],
  ['no token beside the protocol', ['mahabharatha'], {}, REFUSED],
  ['a wrong token', ['mahabharatha', 'bearer.wrong'], {}, REFUSED],
  ['what is no encoding', ['mahabharatha', 'bearer.%zz'], {}, REFUSED],
  ['a token in the address', [], {}, REFUSED],
  [
    'the token as a page sends it',
    ['mahabharatha', `bearer.${encodeURIComponent(TOKEN)}`],
    {},
    ['mahabharatha', GREETED],
  ],
  ['the token in a header', [], { authorization: `Bearer ${TOKEN}` }, ['', GREETED]],
  [
    'a wrong header beside the right protocol',
    ['mahabharatha', `bearer.${encodeURIComponent(TOKEN)}`],
    { authorization: 'Bearer no' },
    REFUSED,
  ],
])('a socket with %s', async (what, protocols, headers, expected) => {
  const url = await listening();
  const place = what.endsWith('address') ? `${url}?token=${encodeURIComponent(TOKEN)}` : url;
  expect(await asked(place, protocols, headers)).toEqual(expected);
});

/** Timers come before what has arrived in the meantime: it gets its turn after them. */
async function answersCame(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

it('ends the socket of a client that gives no sign of life, and of no other', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const url = await listening();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const open = async (autoPong: boolean): Promise<WebSocket> => {
    const socket = new WebSocket(url, { headers, autoPong });
    await new Promise((resolve) => socket.once('message', resolve));
    return socket;
  };
  const [alive, dead] = [await open(true), await open(false)];
  const closed = new Promise((resolve) => dead.once('close', resolve));
  for (let beat = 0; beat < 5; beat += 1) {
    const pinged = Promise.all([alive, dead].map((socket) => new Promise((resolve) => socket.once('ping', resolve))));
    vi.advanceTimersByTime(15_000);
    if (beat < 4) await pinged;
    await answersCame(20);
  }
  expect(await closed).toBe(1006);
  expect(alive.readyState).toBe(alive.OPEN);
  alive.close();
});

/** A frame as a client sends it, with a mask of zeros. */
function frame(first: number, text: string, length = text.length): Buffer {
  const head = length < 126 ? [first, 0x80 | length] : [first, 0xfe, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), Buffer.from(text)]);
}
const [TEXT, MORE, LAST, PING] = [1, 0, 0x80, 0x89];

it.each([
  ['a message whose parts never end', [frame(TEXT, 'a'), frame(MORE, 'b')], [frame(MORE, 'c'), frame(PING, '')], true],
  ['a part that stays half', [frame(TEXT | LAST, 'abc', 200)], [Buffer.from('d'), Buffer.from('e')], true],
  ['messages that end, in parts and whole', [frame(TEXT, 'a')], [frame(LAST, 'b'), frame(TEXT, 'c')], false],
  ['nothing but answers', [], [frame(PING, 'x')], false],
])('a socket with %s is ended after a minute: %#', async (_, begin, further, isEnded) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const client = new WebSocket(await listening(), { headers: { authorization: `Bearer ${TOKEN}` } });
  await new Promise((resolve) => client.once('message', resolve));
  const { _socket: socket } = client as unknown as { _socket: Duplex };
  const closed = new Promise((resolve) => client.once('close', resolve));
  for (const bytes of begin) socket.write(bytes);
  for (let beat = 0; beat < 6; beat += 1) {
    for (const bytes of further) socket.write(bytes);
    await answersCame(20);
    vi.advanceTimersByTime(15_000);
  }
  await answersCame(50);
  if (isEnded) expect(await closed).toBe(1006);
  else expect(client.readyState).toBe(client.OPEN);
  client.terminate();
});

it('closes a socket that asks for nothing in half an hour, and none whose command runs', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const url = await listening();
  const open = async (part: string): Promise<WebSocket> => {
    const client = new WebSocket(url.replace(/x$/, part), { headers: { authorization: `Bearer ${TOKEN}` } });
    await new Promise((resolve) => client.once('message', resolve));
    return client;
  };
  const [idle, busy, asking] = [await open('idle'), await open('busy'), await open('asking')];
  const closed = new Promise((resolve) => idle.once('close', (code, reason) => resolve([code, String(reason)])));
  for (let beat = 0; beat <= 120; beat += 1) {
    if (beat === 60) asking.send('{}');
    const pinged = Promise.all(
      [idle, busy, asking].map((each) => new Promise((resolve) => each.once('ping', resolve))),
    );
    vi.advanceTimersByTime(15_000);
    if (beat < 120) await pinged;
    await answersCame(5);
  }
  expect(await closed).toEqual([1001, 'nothing was asked for in half an hour']);
  for (const each of [busy, asking]) {
    expect(each.readyState).toBe(each.OPEN);
    each.terminate();
  }
});

it('ends although a client does not take leave and another one comes back at once', async () => {
  const url = await listening();
  const headers = { authorization: `Bearer ${TOKEN}` };
  const [slow, eager] = [new WebSocket(url, { headers }), new WebSocket(url, { headers })];
  await Promise.all([slow, eager].map((socket) => new Promise((resolve) => socket.once('message', resolve))));
  slow.pause();
  const back = new Promise((resolve) => {
    eager.once('close', () => {
      const again = new WebSocket(url, { headers });
      again.once('open', () => resolve('open'));
      again.once('error', (error) => resolve(error.message));
    });
  });
  await close?.();
  expect(await back).toBe('Unexpected server response: 503');
  slow.terminate();
});
