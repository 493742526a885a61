import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import fastify from 'fastify';
import { afterEach, expect, it, vi } from 'vitest';
import { openEventStream } from './event-stream.ts';
import type { EventStream } from './event-stream.ts';

const BEAT_MS = 20;
/** More than a connection takes without a reader. */
const MUCH = 'x'.repeat(32 * 1024 ** 2);
let close: (() => Promise<unknown>) | undefined;
afterEach(async () => {
  await close?.();
  vi.useRealTimers();
});

/** A reader that has asked for a stream, and the server's side of it. */
async function opened(beatMs = BEAT_MS): Promise<{
  readonly reader: Socket;
  readonly events: EventStream;
  readonly ended: Promise<unknown>;
}> {
  const server = fastify({ forceCloseConnections: true });
  const begun = new Promise<[EventStream, Promise<unknown>]>((resolve) => {
    server.get('/', async (_, reply) => {
      resolve([openEventStream(reply, beatMs), once(reply.raw, 'close')]);
      return reply;
    });
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  const reader = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  reader.on('error', () => undefined);
  close = async () => {
    reader.destroy();
    await server.close();
  };
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await once(reader, 'readable');
  const [events, ended] = await begun;
  return { reader, events, ended };
}

it('ends the connection of a reader that takes nothing more, and does not wait for it', async () => {
  const { events } = await opened();
  await events.send('stdout', MUCH);
  expect(events.gone.aborted).toBe(true);
});

it('ends it also after the last event', async () => {
  const { events, ended } = await opened();
  void events.send('exit', MUCH);
  events.end();
  await ended;
});

it('goes on with one that reads slowly, and with one to which there is nothing to say', async () => {
  // Long, because a busy machine stands still for some tenths of a second.
  const beatMs = 1000;
  const { reader, events } = await opened(beatMs);
  const looking = setInterval(() => reader.read(), 10);
  for (let part = 0; part < 128; part += 1) await events.send('stdout', 'x'.repeat(64 * 1024));
  await new Promise((resolve) => setTimeout(resolve, beatMs * 6));
  clearInterval(looking);
  expect(events.gone.aborted).toBe(false);
});

it('keeps nothing for a reader that had gone before its stream was opened', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const server = fastify({ forceCloseConnections: true });
  const opening = new Promise<EventStream>((resolve) => {
    server.get('/', async (_, reply) => {
      reader.destroy();
      await once(reply.raw, 'close');
      resolve(openEventStream(reply));
      return reply;
    });
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  close = () => server.close();
  const reader = connect((server.server.address() as AddressInfo).port, '127.0.0.1');
  reader.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  const events = await opening;
  expect(events.gone.aborted).toBe(true);
  expect(vi.getTimerCount()).toBe(0);
  events.end();
});
