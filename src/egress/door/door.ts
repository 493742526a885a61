import { createConnection, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { endWithAnswer, joinSockets, reasonOf, sleep, systemClock, systemCode } from '../../lib/index.ts';
import { egressPreamble } from '../../protocol/index.ts';
import type { EgressWay } from '../../protocol/index.ts';

/** The proxy may start after the worker: a connection waits this long for it. */
const WAIT_MS = 30_000;
const RETRY_MS = 100;
/** Longer than the slowest silent answer of a model; the proxy has the same limit. */
const IDLE_MS = 15 * 60_000;
/** There is no socket yet, no listener yet, or there are too many connections at once. */
const NOT_YET = new Set(['ENOENT', 'ECONNREFUSED', 'EAGAIN']);

export interface EgressDoorOptions {
  /** On our own loopback; 0 for any. */
  readonly port: number;
  /** The proxy's unix socket. */
  readonly socket: string;
  readonly worker: number;
  /** Proves that it is this worker. */
  readonly token: string;
  /** Without it to the hosts of the allowlist. */
  readonly way?: EgressWay;
  /** Only these hosts of the allowlist, as the token has them. */
  readonly reach?: string | undefined;
  readonly waitMs?: number;
}

export type EgressDoor = Awaited<ReturnType<typeof openEgressDoor>>;

/** The way out of a container without a network: a port on its loopback whose connections go to the egress proxy. */
export async function openEgressDoor(options: EgressDoorOptions) {
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    keep(client);
    client.on('error', () => undefined);
    void passOn(client, options, keep);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, '127.0.0.1', resolve);
  });
  // An accept that fails (too many open files) concerns one client alone.
  server.on('error', () => undefined);
  return {
    port: (server.address() as AddressInfo).port,
    close: (): void => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}

async function passOn(client: Socket, options: EgressDoorOptions, keep: (socket: Socket) => void): Promise<void> {
  const { socket, worker, token, way, reach, waitMs = WAIT_MS } = options;
  const deadline = systemClock.monotonic() + waitMs;
  for (;;) {
    const proxy = await connect(socket);
    if (client.destroyed) {
      if (!(proxy instanceof Error)) proxy.destroy();
      return;
    }
    if (!(proxy instanceof Error)) {
      keep(proxy);
      proxy.write(egressPreamble(worker, token, { ...(way === undefined ? {} : { way }), reach }));
      joinSockets(client, proxy, IDLE_MS);
      return;
    }
    if (!NOT_YET.has(systemCode(proxy) ?? '') || systemClock.monotonic() >= deadline) return giveUp(client, proxy);
    await sleep(RETRY_MS);
  }
}

function connect(path: string): Promise<Socket | Error> {
  return new Promise((resolve) => {
    const socket = createConnection({ path, allowHalfOpen: true });
    socket.once('error', resolve);
    socket.once('connect', () => {
      socket.off('error', resolve);
      resolve(socket);
    });
  });
}

function giveUp(client: Socket, error: Error): void {
  const text = `Mahabharatha's egress proxy cannot be reached (${reasonOf(error)}): no network until it is back.\n`;
  const head = `HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  endWithAnswer(client, `${head}Connection: close\r\n\r\n${text}`);
}
