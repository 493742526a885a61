import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { say, wire } from '../../../test/support/egress-world.ts';
import { tempFolder } from '../../../test/support/temp-folder.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { openEgressDoor } from './door.ts';
import type { EgressDoor } from './door.ts';

/** Says back what it hears, after the end. */
async function startProxy(socket: string): Promise<Socket[]> {
  const open: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (each) => {
    let heard = '';
    open.push(each.on('error', () => undefined));
    each.on('data', (chunk) => (heard += chunk));
    each.on('end', () => each.end(`heard: ${heard}`));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.close();
    for (const each of open) each.destroy();
  });
  return open;
}

async function startDoor(socket: string, waitMs = 10_000): Promise<EgressDoor> {
  const door = await openEgressDoor({ port: 0, socket, worker: 12, token: 'abc', waitMs });
  onTestFinished(() => door.close());
  return door;
}

const place = (): string => path.join(tempFolder(), 'proxy.sock');

describe("a worker's door to the egress proxy", () => {
  it('names its worker, and passes bytes on until both sides have ended', async () => {
    const socket = place();
    await startProxy(socket);
    const { port } = await startDoor(socket);
    const line = wire(port, 'hello');
    line.socket.end(' there');
    await line.closed;
    expect(line.text()).toBe('heard: worker 12 abc\nhello there');
  });

  it('waits for a proxy that starts later', async () => {
    const socket = place();
    const { port } = await startDoor(socket);
    const line = wire(port, 'early');
    line.socket.end();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await startProxy(socket);
    await line.closed;
    expect(line.text()).toBe('heard: worker 12 abc\nearly');
  });

  it('says what is missing when no proxy comes', async () => {
    const { port } = await startDoor(place(), 200);
    const answer = await say(port, 'CONNECT a.test:443 HTTP/1.1\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 502 Bad Gateway\r\n[^]*egress proxy cannot be reached \(connect ENOENT/);
  });

  it('ends one side when the other breaks', async () => {
    const socket = place();
    const open = await startProxy(socket);
    const { port } = await startDoor(socket);
    const first = wire(port, 'x');
    await waitUntil('it is through', () => open.length === 1);
    open[0]?.destroy();
    await first.closed;
    const second = wire(port, 'x');
    await waitUntil('it is through', () => open.length === 2);
    second.socket.resetAndDestroy();
    await waitUntil('the far side is closed', () => open[1]?.closed === true);
  });

  it('closes all its connections when it is closed', async () => {
    const socket = place();
    const open = await startProxy(socket);
    const door = await startDoor(socket);
    const lines = [wire(door.port, 'x'), wire(door.port, 'y')];
    await waitUntil('both are through', () => open.length === 2);
    door.close();
    await Promise.all(lines.map(({ closed }) => closed));
    await waitUntil('the far sides are closed', () => open.every(({ closed }) => closed));
  });

  it('says so when its port is taken', async () => {
    const { port } = await startDoor(place());
    await expect(openEgressDoor({ port, socket: place(), worker: 1, token: 'abc' })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });
});
