import type { AddressInfo } from 'node:net';
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
    open: (user, part) => (line) => void line.send({ user, part }),
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
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(await closed).toBe(1006);
  expect(alive.readyState).toBe(alive.OPEN);
  alive.close();
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
