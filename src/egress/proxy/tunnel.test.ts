import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { inRecords, madeHello, realHello, serverName } from '../../../test/support/client-hello.ts';
import { egressWorld, listening, startOrigin, wire } from '../../../test/support/egress-world.ts';
import type { Wire } from '../../../test/support/egress-world.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';

const PUBLIC = '8.8.8.8';
const connect = (target: string): string => `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`;
/** As a TLS alert. */
const UNRECOGNIZED_NAME = '\u0015\u0003\u0001\u0000\u0002\u0002p';

describe('the content of a tunnel', () => {
  const NAME = 'allowed.test';
  /** A tunnel to that target in which the client says this, and what the far end has heard. */
  async function tunnel(
    target: string,
    words: Buffer | string,
  ): Promise<{ line: Wire; heard: () => Buffer; told: string[] }> {
    const chunks: Buffer[] = [];
    const far = await listening(
      createServer((socket) => void socket.on('error', () => undefined).on('data', (chunk) => chunks.push(chunk))),
    );
    const { port, told } = await egressWorld({
      allow: [NAME, `${NAME}:8443`, `${PUBLIC}:443`],
      names: { [NAME]: [[PUBLIC]] },
      port: far,
    });
    const line = wire(port, connect(target));
    await line.until('200 Connection');
    line.socket.write(words);
    return { line, heard: () => Buffer.concat(chunks), told };
  }

  it.each([`${NAME}:443`, `${NAME}:8443`])('passes when it is TLS for the same name: %s', async (target) => {
    for (const hello of [await realHello(NAME), inRecords(await realHello('Allowed.TEST'), 60)]) {
      const { heard, told } = await tunnel(target, hello);
      await waitUntil('it has come', () => heard().equals(hello));
      expect(told).toEqual([]);
    }
  });

  it('passes when it is TLS for an address, which is asked for without a name', async () => {
    const hello = await realHello(undefined);
    const { heard } = await tunnel(`${PUBLIC}:443`, hello);
    await waitUntil('it has come', () => heard().equals(hello));
  });

  const other = 'another.test';
  it.each<[string, string, Promise<Buffer> | Buffer | string]>([
    [`${NAME}:443`, `asks for another server, ${other}`, realHello(other)],
    [`${NAME}:8443`, `asks for another server, ${other}`, realHello(other).then((hello) => inRecords(hello, 10))],
    [`${NAME}:80`, `asks for another server, ${other}`, realHello(other)],
    [`${PUBLIC}:443`, `asks for another server, ${other}`, realHello(other)],
    [`${NAME}:443`, 'names no server', realHello(undefined)],
    [`${NAME}:443`, 'may hide another name', madeHello([serverName(NAME), [0xfe_0d, Buffer.alloc(1)]])],
    [`${NAME}:443`, 'cannot be read', madeHello([serverName(NAME, other)])],
    [`${NAME}:443`, 'is not TLS', `GET / HTTP/1.1\r\nHost: ${other}\r\n\r\n`],
    [`${NAME}:443`, 'is not TLS', 'SSH-2.0-x\r\n'],
  ])('is refused in a tunnel to %s when it %s', async (target, reason, words) => {
    const { line, heard, told } = await tunnel(target, await words);
    await line.closed;
    expect(heard()).toHaveLength(0);
    expect(told).toEqual([expect.stringContaining(reason)]);
    expect(told[0]).toMatch(new RegExp(`^refused ${target}: `));
    // A TLS client shows the alert, others an answer of HTTP.
    const said = line.text().slice(line.text().indexOf('\r\n\r\n') + 4);
    expect(said === UNRECOGNIZED_NAME || said.startsWith('HTTP/1.1 502 Mahabharatha refused')).toBe(true);
  });

  it('is judged only when all of it is there, and nothing passes before', async () => {
    const hello = await realHello(other);
    const { line, heard, told } = await tunnel(`${NAME}:443`, hello.subarray(0, 40));
    line.socket.write(hello.subarray(40));
    await line.closed;
    expect([heard().length, told.length]).toEqual([0, 1]);
  });

  it('may be anything on a port of its own that the user has listed, also when the server sends first', async () => {
    const { heard } = await tunnel(`${NAME}:8443`, 'SSH-2.0-x\r\n');
    await waitUntil('it has come', () => heard().toString() === 'SSH-2.0-x\r\n');
    const greeting = await listening(
      createServer((socket) => void socket.on('error', () => undefined).write('220 hello')),
    );
    const { port } = await egressWorld({ allow: [`127.0.0.1:${greeting}`] });
    await wire(port, connect(`127.0.0.1:${greeting}`)).until('220 hello');
  });

  it('is plain HTTP on port 80, for the name of the tunnel, whatever its Host header says', async () => {
    const origin = await startOrigin();
    const { port, dialled } = await egressWorld({ allow: [NAME], names: { [NAME]: [[PUBLIC]] }, port: origin.port });
    const line = wire(port, connect(`${NAME}:80`));
    await line.until('200 Connection');
    line.socket.write(`GET /a HTTP/1.1\r\nHost: ${other}\r\n\r\n`);
    await line.until('hello /a');
    line.socket.write(`GET http://${NAME}/b HTTP/1.1\r\nHost: ${other}\r\n\r\n`);
    await line.until('hello /b');
    line.socket.write(`GET http://${other}/c HTTP/1.1\r\nHost: ${other}\r\n\r\n`);
    await line.closed;
    expect(line.text()).toContain('400');
    expect(origin.seen.map(({ line: asked }) => asked)).toEqual(['GET /a', 'GET /b']);
    for (const { raw } of origin.seen) expect(raw.join(' ')).toContain(`Host ${NAME}`);
    expect(new Set(dialled)).toEqual(new Set([`${PUBLIC}:80`]));
  });

  it('leads to no second tunnel', async () => {
    const { line, heard } = await tunnel(`${NAME}:80`, connect(`${NAME}:8443`));
    await line.closed;
    expect(heard()).toHaveLength(0);
  });
});
