import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { withResolvers } from '../../test/support/with-resolvers.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { route } from './route.ts';
import { createServer } from './server.ts';

const MB = 1024 ** 2;
/** More than a connection takes without a reader. */
const MUCH = 32 * MB;
const TOKENS = new Map(['anna', 'ben', 'cleo', 'dora', 'emil'].map((user) => [`right-token-of-${user}`, user]));
const admission = { check: () => undefined, checkRate: () => undefined };
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const sockets: Socket[] = [];
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await close?.();
});

const answer = z.object({ text: z.string() });
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface Asked {
  ask(
    user: string,
    place: string,
  ): Promise<{ readonly status: number; readonly bytes: number; readonly retry: string }>;
  /** Sends the request, and reads nothing. */
  send(user: string, ...places: string[]): Socket;
  /** Of the answer that was asked for last. */
  closed(): Promise<unknown>;
  /** How the making of each answer that takes room until it is stopped has ended. */
  readonly stopped: string[];
  /** Lets the answers be made for which room was taken. */
  go(): void;
}

async function listening(limits: Parameters<typeof createServer>[1]): Promise<Asked> {
  const stopped: string[] = [];
  const { promise: going, resolve } = withResolvers<undefined>();
  const go = (): void => resolve(undefined);
  const routes = [
    route({
      method: 'GET',
      path: '/bytes/:count',
      summary: 'Has so many bytes',
      answer,
      handle: async ({ params }) => ({ text: 'x'.repeat(Number(params['count'])) }),
    }),
    route({
      method: 'GET',
      path: '/held/:count',
      summary: 'Is made from so many bytes',
      answer,
      handle: async ({ params, take }) => {
        take(Number(params['count']));
        await going;
        return { text: 'made' };
      },
    }),
    route({
      method: 'GET',
      path: '/endless',
      summary: 'Is read until its client goes',
      answer,
      handle: async ({ take }) => {
        for (;;) {
          try {
            take(1);
          } catch (error) {
            stopped.push((error as Error).name);
            throw error;
          }
          await wait(5);
        }
      },
    }),
    route({
      method: 'GET',
      path: '/slow',
      summary: 'Takes its time',
      answer,
      handle: async () => {
        await wait(600);
        return { text: 'slow' };
      },
    }),
  ];
  const guarding = { tokens: TOKENS, origins: [], names: 'any' as const };
  const server = createServer({ routes, guarding, admission, version: '1', log: silent }, limits);
  let closed: Promise<unknown> = Promise.resolve();
  server.addHook('onRequest', async (_, reply) => void (closed = once(reply.raw, 'close')));
  await server.listen({ host: '127.0.0.1', port: 0 });
  close = () => server.close();
  const { port } = server.server.address() as AddressInfo;
  const send = (user: string, ...places: string[]): Socket => {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined);
    const head = `HTTP/1.1\r\nhost: x\r\nauthorization: Bearer right-token-of-${user}\r\n\r\n`;
    socket.write(places.map((place) => `GET ${place} ${head}`).join(''));
    return socket;
  };
  const ask: Asked['ask'] = async (user, place) => {
    const headers = { authorization: `Bearer right-token-of-${user}` };
    const response = await fetch(`http://127.0.0.1:${port}${place}`, { headers });
    const retry = response.headers.get('retry-after') ?? '';
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength, retry };
  };
  return { ask, send, closed: () => closed, stopped, go };
}

it('one user has a quarter of the room for answers, and small ones have always room', async () => {
  const { ask, send } = await listening({ answersBytes: 400 * MB });
  const unread: Socket[] = [];
  await waitUntil('it is full', async () => {
    // One that comes while the others are there is refused itself.
    for (let count = 0; count < 3; count += 1) unread.push(send('anna', `/bytes/${MUCH}`));
    return (await ask('anna', `/bytes/${MUCH}`)).status === 503;
  });
  expect(await ask('anna', `/bytes/${MUCH}`)).toMatchObject({ status: 503, retry: '5' });
  expect(await ask('anna', '/bytes/90000')).toMatchObject({ status: 200, bytes: 90_011 });
  expect(await ask('ben', `/bytes/${MUCH}`)).toMatchObject({ status: 200, bytes: MUCH + 11 });
  for (const socket of unread) socket.destroy();
  await waitUntil('there is room again', async () => (await ask('anna', `/bytes/${MUCH}`)).status === 200);
});

it('all users together have no more than the whole room', async () => {
  const { ask, send } = await listening({ answersBytes: 160 * MB });
  await waitUntil('it is full', async () => {
    for (const user of ['anna', 'ben', 'cleo', 'dora']) send(user, `/bytes/${38 * MB}`);
    return (await ask('emil', `/bytes/${20 * MB}`)).status === 503;
  });
  expect(await ask('emil', '/bytes/90000')).toMatchObject({ status: 200 });
});

it('what an answer is made from counts before it is made', async () => {
  const { ask, send, go } = await listening({ answersBytes: 400 * MB });
  send('anna', `/held/${90 * MB}`);
  await waitUntil('it is held', async () => (await ask('anna', `/bytes/${MUCH}`)).status === 503);
  expect(await ask('anna', `/held/${90 * MB}`)).toMatchObject({ status: 503 });
  go();
  await waitUntil('it is answered', async () => (await ask('anna', `/held/${90 * MB}`)).status === 200);
});

it('no more is read for a client that has gone', async () => {
  const { send, closed, stopped } = await listening({});
  const socket = send('anna', '/endless');
  await once(socket, 'connect');
  await wait(50);
  socket.destroy();
  await closed();
  await waitUntil('it is stopped', () => stopped.length === 1);
  expect(stopped).toEqual(['AbortError']);
});

it('a client that takes nothing of its answer counts as gone', async () => {
  const { ask, send, closed } = await listening({ answersBytes: 160 * MB, silentMs: 300 });
  send('anna', `/bytes/${38 * MB}`);
  await waitUntil('it is there', async () => (await ask('anna', `/bytes/${20 * MB}`)).status === 503);
  await waitUntil('there is room again', async () => (await ask('anna', `/bytes/${20 * MB}`)).status === 200);
  await closed();
});

it('one that reads slowly gets all of it', async () => {
  const { send } = await listening({ silentMs: 1000 });
  const socket = send('anna', `/bytes/${MUCH}`);
  let got = 0;
  while (got < MUCH) {
    // Longer in all than a silence may be.
    const part = socket.read() as Buffer | null;
    got += part?.length ?? 0;
    expect(socket.destroyed).toBe(false);
    await wait(5);
  }
});

it('the next answer of a connection may take longer to be made than a client may be silent', async () => {
  const { send } = await listening({ silentMs: 100 });
  const socket = send('anna', '/bytes/1', '/slow');
  let got = '';
  socket.on('data', (chunk: Buffer) => (got += chunk.toString()));
  await waitUntil('the second answer', () => got.includes('"slow"') || socket.destroyed);
  expect(got).toContain('"slow"');
});
