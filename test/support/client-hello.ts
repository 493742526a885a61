import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:tls';

/** What a real TLS client says first when it asks for that name; an address is asked for without one. */
export async function realHello(name: string | undefined): Promise<Buffer> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.once('data', (chunk) => {
        socket.destroy();
        server.close();
        resolve(chunk);
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      connect({ port, host: '127.0.0.1', ...(name === undefined ? {} : { servername: name }) }).on(
        'error',
        () => undefined,
      );
    });
  });
}

/** The same message in records of at most so many bytes. */
export function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** A hello of these extensions, as no library sends it. */
export function madeHello(extensions: readonly (readonly [type: number, body: Buffer])[]): Buffer {
  const all = Buffer.concat(extensions.flatMap(([type, body]) => [twoBytes(type), sized(body)]));
  const body = Buffer.concat([
    twoBytes(0x0303),
    Buffer.alloc(32),
    Buffer.from([0]),
    sized(twoBytes(0x1301)),
    Buffer.from([1, 0]),
    sized(all),
  ]);
  const message = Buffer.concat([Buffer.from([1, 0]), sized(body)]);
  return Buffer.concat([Buffer.from([22, 3, 1]), sized(message)]);
}

/** The extension that names a server. */
export const serverName = (...names: string[]): readonly [number, Buffer] => [
  0,
  sized(Buffer.concat(names.flatMap((name) => [Buffer.from([0]), sized(Buffer.from(name))]))),
];

const twoBytes = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const sized = (body: Buffer): Buffer => Buffer.concat([twoBytes(body.length), body]);
