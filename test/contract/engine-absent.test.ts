import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createDockerEngine } from '../../src/engines/index.ts';
import { newBuild } from '../support/containers.ts';
import { tempFolder } from '../support/temp-folder.ts';

const socketPath = (): string => path.join(tempFolder(), 'docker.sock');

async function listen(onConnection: (socket: net.Socket) => void): Promise<string> {
  const place = socketPath();
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(place, resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return place;
}

describe('an engine that is not there', () => {
  it.each<[string, () => Promise<string>, RegExp]>([
    ['no socket', async () => socketPath(), /docker\.sock: there is no such socket/],
    ['no socket but a file', async () => withFile(socketPath()), /docker\.sock: nothing listens there/],
    ['one that hangs up', () => listen((socket) => socket.destroy()), /docker\.sock: it closed the connection/],
  ])('is noticed at once: %s', async (_, make, words) => {
    const dead = createDockerEngine({ kind: 'socket', path: await make() });
    const calls = [
      () => dead.info(),
      () => dead.listContainers({}),
      () => dead.attach('x'),
      () => dead.startContainer('x'),
      () => dead.waitContainer('x'),
      () => dead.buildImage(newBuild('x', []), () => undefined),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({
        code: 'ENGINE_UNREACHABLE',
        exit: 4,
        message: expect.stringMatching(words),
      });
    }
  });

  it('is noticed at an address, too', async () => {
    const dead = createDockerEngine({ kind: 'tcp', host: '127.0.0.1', port: 1, tls: null });
    const message = expect.stringContaining('tcp://127.0.0.1:1: nothing listens there');
    await expect(dead.info()).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE', message });
  });

  it('is not waited for longer than the limit when it never answers', async () => {
    const place = await listen(() => undefined);
    const mute = createDockerEngine({ kind: 'socket', path: place }, { quickMs: 200, slowMs: 300 });
    const calls = [
      () => mute.info(),
      () => mute.attach('x'),
      () => mute.startContainer('x'),
      () => mute.removeContainer('x'),
      () => mute.waitContainer('x'),
    ];
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({ code: 'ENGINE_TIMEOUT', facts: { place }, exit: 4 });
    }
  });

  it('is noticed in the middle of an answer, by all callers', async () => {
    const heads = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const place = await listen((socket) => {
      socket.once('data', (data) => {
        if (String(data).startsWith('GET /containers/x/json')) {
          socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}');
        } else {
          socket.write(`${heads}1\r\n \r\n`);
          setTimeout(() => socket.destroy(), 200);
        }
      });
    });
    const dying = createDockerEngine({ kind: 'socket', path: place }, { quickMs: 60_000, slowMs: 60_000 });
    const sink = { stdout: () => undefined, stderr: () => undefined };
    const waits = [dying.waitContainer('x'), dying.info(), dying.buildImage(newBuild('x', []), () => undefined)];
    for (const end of await Promise.allSettled(waits)) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'ENGINE_UNREACHABLE' } });
    }
    await expect(dying.logs('x', { follow: true, tail: 'all' }, sink)).rejects.toMatchObject({ exit: 4 });
  });

  it('counts as unreachable when it answers while it shuts down, so that callers try again', async () => {
    const body = JSON.stringify({ message: 'create 45f310f9: database not open' });
    const head = `HTTP/1.1 500 Internal Server Error\r\nContent-Length: ${body.length}\r\n\r\n`;
    const place = await listen((socket) => void socket.on('data', () => socket.write(head + body)));
    const closing = createDockerEngine({ kind: 'socket', path: place });
    const message = expect.stringContaining('it is shutting down');
    await expect(closing.startContainer('x')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE', message });
  });

  it.each([
    ['changes the protocol unasked', 'HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n', 4],
    ['sends us elsewhere', 'HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n', 4],
    ['is something else', 'HTTP/1.1 418 Teapot\r\nContent-Length: 5\r\n\r\nshort', 4],
  ])('causes no uncaught error when the other side %s', async (_, answer, exit) => {
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined).once('data', () => socket.write(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as net.AddressInfo;
    const strange = createDockerEngine({ kind: 'tcp', host: '127.0.0.1', port, tls: null });
    await expect(strange.info()).rejects.toMatchObject({ exit, code: expect.stringMatching(/^ENGINE_/) });
    for (const socket of sockets) socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
  });

  it('causes no uncaught error when an attachment breaks', async () => {
    const place = await listen((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n');
        socket.write(Buffer.from([1, 0, 0, 0, 0, 0, 0, 9, 104, 105]));
        setTimeout(() => socket.destroy(), 50);
      });
    });
    const { stdin, stdout, stderr } = await createDockerEngine({ kind: 'socket', path: place }).attach('x');
    stderr.resume();
    let text = '';
    stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await new Promise((resolve) => stdout.once('end', resolve));
    expect(text).toBe('hi');
    stdin.write('into nothing');
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
});

function withFile(file: string): string {
  writeFileSync(file, '');
  return file;
}
