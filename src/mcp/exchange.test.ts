import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { send } from './exchange.ts';

it('a client that takes nothing of a stream counts as gone, and the stream is called off', async () => {
  let calledOff: (() => void) | undefined;
  const off = new Promise<void>((resolve) => (calledOff = resolve));
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024)),
    cancel: () => calledOff?.(),
  });
  const server = createServer((_, outgoing) => send(new Response(body), outgoing, 200)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const client = get({ port, host: '127.0.0.1' }, (response) => response.pause());
  client.on('error', () => undefined);
  await off;
  client.destroy();
  server.close();
});

it('a client that reads slowly gets everything', async () => {
  const parts = Array.from({ length: 5 }, (_, index) => `part ${index}\n`);
  const body = new ReadableStream({
    pull: async (controller) => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const part = parts.shift();
      if (part === undefined) controller.close();
      else controller.enqueue(Buffer.from(part));
    },
  });
  const server = createServer((_, outgoing) => send(new Response(body), outgoing, 2000)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const text = await (await fetch(`http://127.0.0.1:${port}`)).text();
  expect(text).toBe('part 0\npart 1\npart 2\npart 3\npart 4\n');
  server.closeAllConnections();
  server.close();
});
