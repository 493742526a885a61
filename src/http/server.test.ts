import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { waitUntil } from '../../test/support/wait-until.ts';
import { libErrors } from '../lib/index.ts';
import { route } from './route.ts';
import { createServer } from './server.ts';

const HELLO = route({
  method: 'POST',
  path: '/hello/:name',
  summary: 'Greets',
  body: z.object({ times: z.number().int().max(3) }),
  query: z.object({ loud: z.enum(['yes']).optional() }),
  answer: z.object({ text: z.string() }),
  handle: async ({ params, body }) => {
    if (params['name'] === 'fault') throw new Error('a secret of the inside');
    if (params['name'] === 'never') return new Promise<never>(() => undefined);
    if (params['name'] === 'engine') throw libErrors.FILE_UNREADABLE({ file: '/x', reason: 'gone' });
    return { text: `${params['name']} `.repeat(body.times) };
  },
});

const admission = { check: () => undefined, checkRate: () => undefined };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const faults: string[] = [];
const serverWith = (tokens: ReadonlyMap<string, string> | null, limits?: Parameters<typeof createServer>[1]) =>
  createServer(
    {
      routes: [HELLO],
      guarding: { tokens, origins: [], names: tokens === null ? 'local' : 'any' },
      admission,
      version: '1.2.3',
      log: { ...silent, error: (_, facts) => faults.push(String(facts?.['code'])) },
    },
    limits,
  );

const TOKENS = new Map([['right-token-of-anna', 'anna']]);
const headers = { host: 'localhost' };

it('answers with what the route says, and checks what it is sent', async () => {
  const server = serverWith(null);
  const ask = (url: string, payload: object) => server.inject({ method: 'POST', url, payload, headers });
  expect((await ask('/hello/ann', { times: 2 })).json()).toEqual({ text: 'ann ann ' });
  expect((await ask('/hello/ann', { times: 'x' })).json()).toMatchObject({
    code: 'BODY_INVALID',
    detail: expect.stringContaining('times: '),
  });
  expect((await ask('/hello/ann?loud=no', { times: 1 })).statusCode).toBe(400);
  expect((await ask('/hello/ann', {})).statusCode).toBe(400);
  expect(
    (
      await server.inject({
        method: 'POST',
        url: '/hello/ann',
        payload: '{',
        headers: { ...headers, 'content-type': 'application/json' },
      })
    ).statusCode,
  ).toBe(400);
});

it('shows nothing of a fault of its own, and logs it', async () => {
  const server = serverWith(null);
  const ask = (url: string) => server.inject({ method: 'POST', url, payload: { times: 1 }, headers });
  const fault = await ask('/hello/fault');
  expect([fault.statusCode, fault.json()]).toEqual([500, expect.objectContaining({ code: 'INTERNAL' })]);
  expect((await ask('/hello/engine')).statusCode).toBe(500);
  expect(faults).toEqual(['INTERNAL', 'FILE_UNREADABLE']);
});

it.each([
  ['no token', undefined, 401],
  ['a wrong one', 'Bearer wrong', 401],
  ['another scheme', 'Basic right-token-of-anna', 401],
  ['the right one', 'Bearer right-token-of-anna', 200],
])('with tokens, a request with %s gets %s', async (_, authorization, status) => {
  const more = authorization === undefined ? {} : { authorization };
  const asked = {
    method: 'POST',
    url: '/hello/ann',
    payload: { times: 1 },
    headers: { host: 'any.example', ...more },
  } as const;
  const answer = await serverWith(TOKENS).inject(asked);
  expect(answer.statusCode).toBe(status);
  expect(answer.headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
});

it('describes itself', async () => {
  const { paths, openapi } = (await serverWith(null).inject({ url: '/openapi.json', headers })).json();
  expect(openapi).toBe('3.1.0');
  expect(paths['/hello/{name}'].post).toMatchObject({
    operationId: 'postHelloName',
    parameters: [
      { in: 'path', name: 'name', required: true },
      { in: 'query', name: 'loud', required: false },
    ],
    requestBody: { required: true },
    responses: { 200: {}, 400: {}, 401: {}, 500: {} },
  });
});

it('answers an address that is none as it answers all that it refuses', async () => {
  const answer = await serverWith(null).inject({ method: 'GET', url: '/hello/%ff', headers });
  expect([answer.statusCode, answer.json()]).toEqual([
    400,
    { code: 'BODY_INVALID', detail: expect.stringContaining('/hello/%ff'), hint: expect.any(String) },
  ]);
});

const HEAD = 'POST /hello/ann HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const inPieces = (bytes: number): string =>
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n0\r\n\r\n`;
const declared = (bytes: number, sent = ' '.repeat(bytes)): string => `${HEAD}Content-Length: ${bytes}\r\n\r\n${sent}`;

/** Sends this, and resolves with what comes back until it fits. */
function send(port: number, text: string): { readonly socket: Socket; answer(): Promise<string> } {
  const socket = connect({ host: '127.0.0.1', port });
  let got = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
  socket.write(text);
  return {
    socket,
    answer: async () => {
      await waitUntil('an answer', () => got.includes('\r\n\r\n') || socket.destroyed);
      return got;
    },
  };
}

const listening = async (server: ReturnType<typeof serverWith>): Promise<number> => {
  await server.listen({ host: '127.0.0.1', port: 0 });
  return (server.server.address() as AddressInfo).port;
};
const KB = 1024;
const SMALL = '{"times":1}';
/** With the header of one of these users. */
const of = (user: string, text: string): string =>
  text.replace('\r\n', `\r\nAuthorization: Bearer right-token-of-${user}\r\n`);
const USERS = new Map(['anna', 'ben', 'cleo', 'dora', 'emil'].map((user) => [`right-token-of-${user}`, user]));
const padded = (bytes: number): string => declared(bytes, SMALL.padEnd(bytes));
const FULL = /^HTTP\/1.1 503 [^]*\r\nretry-after: \d+\r\n/;

it.each([
  ['of bodies that say their length', declared],
  ['of bodies that come in pieces', inPieces],
])('one user has a quarter of the room, and small bodies have always room: %s', async (_, body) => {
  const server = serverWith(USERS, { bodiesBytes: 2400 * KB, requestMs: 60_000 });
  const port = await listening(server);
  const ask = (user: string, text: string): Promise<string> => send(port, of(user, text)).answer();
  const begin = (user: string) => send(port, of(user, body(500 * KB).slice(0, -10)));
  const begun: ReturnType<typeof send>[] = [];
  await waitUntil('one has come', async () => {
    // One that comes while the other is there is refused itself.
    begun.push(begin('anna'));
    return FULL.test(await ask('anna', padded(200 * KB)));
  });
  expect(await ask('anna', padded(90 * KB))).toMatch(/^HTTP\/1.1 200 /);
  expect(await ask('ben', padded(500 * KB))).toMatch(/^HTTP\/1.1 200 /);
  for (const { socket } of begun) socket.destroy();
  await waitUntil('there is room again', async () => (await ask('anna', padded(500 * KB))).includes(' 200 '));
  await server.close();
});

it('all users together have no more than the whole room, but for small bodies', async () => {
  const server = serverWith(USERS, { bodiesBytes: 2400 * KB, requestMs: 60_000 });
  const port = await listening(server);
  const users = ['anna', 'ben', 'cleo', 'dora'];
  const ask = (bytes: number) => send(port, of('emil', declared(bytes, SMALL.padEnd(bytes)))).answer();
  await waitUntil('it is full', async () => {
    // One that comes while all others are there is refused itself.
    for (const user of users) send(port, of(user, declared(600 * KB).slice(0, -10)));
    return FULL.test(await ask(110 * KB));
  });
  expect(await ask(90 * KB)).toMatch(/^HTTP\/1.1 200 /);
  await server.close();
});

it('a body gives its room back with its connection, also when its answer had to wait for an earlier one', async () => {
  const server = serverWith(null, { bodiesBytes: 2400 * KB, requestMs: 60_000 });
  const port = await listening(server);
  const first = declared(SMALL.length, SMALL).replace('/ann', '/never');
  const whole = declared(500 * KB, SMALL.padEnd(500 * KB));
  const { socket } = send(port, first + whole);
  await waitUntil('it is there', async () => FULL.test(await send(port, whole).answer()));
  socket.destroy();
  await waitUntil('there is room again', async () => (await send(port, whole).answer()).includes(' 200 '));
  await server.close();
});

it('a length that is only said takes no room', async () => {
  const server = serverWith(null, { bodiesBytes: 2400 * KB, requestMs: 60_000 });
  const port = await listening(server);
  for (let sent = 0; sent < 8; sent += 1) send(port, declared(2048 * KB, ' '));
  expect(await send(port, declared(500 * KB, SMALL.padEnd(500 * KB))).answer()).toMatch(/^HTTP\/1.1 200 /);
  await server.close();
});

it.each([
  ['with its length', declared],
  ['in pieces', inPieces],
])('a body that is cut off is given up: %s', async (_, body) => {
  const server = serverWith(null);
  const given: string[] = [];
  server.addHook('onError', async (request, __, error) => void given.push(`${request.url} ${error.message}`));
  const port = await listening(server);
  const { socket } = send(port, body(500 * KB).slice(0, 300 * KB));
  await waitUntil('it has come', () => socket.writableLength === 0);
  socket.destroy();
  await waitUntil('it is given up', () => given.length === 1);
  expect(given).toEqual([expect.stringMatching(/^\/hello\/ann /)]);
  const refused = send(
    port,
    body(500 * KB)
      .replace('application/json', 'text/plain')
      .slice(0, 300 * KB),
  );
  expect(await refused.answer()).toMatch(/^HTTP\/1.1 415 /);
  refused.socket.destroy();
  expect(await send(port, declared(SMALL.length, SMALL)).answer()).toMatch(/^HTTP\/1.1 200 /);
  await server.close();
});

it('the connection of a refused body takes the next request', async () => {
  const server = serverWith(null);
  const port = await listening(server);
  const unwanted = declared(500 * KB).replace('application/json', 'application/xml');
  const { socket } = send(port, unwanted + declared(SMALL.length, SMALL));
  let got = '';
  socket.on('data', (bytes: Buffer) => (got += bytes.toString('latin1')));
  await waitUntil('both are answered', () => got.includes('HTTP/1.1 200 '));
  expect(got).toMatch(/^HTTP\/1.1 415 /);
  await server.close();
});

it('does not keep the place of a body that comes too slowly', async () => {
  const server = serverWith(null, { bodiesBytes: 1000, requestMs: 1000 });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  const slow = send(port, declared(600, ''));
  const drops = setInterval(() => slow.socket.write(' '), 50);
  expect(await slow.answer()).toMatch(/^HTTP\/1.1 408 /);
  clearInterval(drops);
  const whole = '{"times":1}'.padEnd(900);
  expect(await send(port, declared(900, whole)).answer()).toMatch(/^HTTP\/1.1 200 /);
  await server.close();
});
