import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { resolveName } from './admission.ts';
import { dial } from './dial.ts';

async function port(): Promise<number> {
  const server = createServer((socket) => void socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it('tries one address after the other', async () => {
  const socket = await dial(['127.0.0.2', '127.0.0.1'], await port(), 5000);
  expect(socket.remoteAddress).toBe('127.0.0.1');
  socket.destroy();
});

it('says why the last one did not answer', async () => {
  await expect(dial(['127.0.0.2', '127.0.0.3'], await port(), 5000)).rejects.toThrow('ECONNREFUSED 127.0.0.3');
  await expect(dial([], 1, 5000)).rejects.toThrow('no address');
});

it('asks the resolver of this machine, its hosts file included', async () => {
  expect(await resolveName('localhost')).toContain('127.0.0.1');
  await expect(resolveName('nowhere.invalid')).rejects.toMatchObject({
    code: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
  });
});
