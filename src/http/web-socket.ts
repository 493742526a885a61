import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import type { FastifyInstance } from 'fastify';
import { accountOf, checkUpgrade, protocolsOf } from '../guard/index.ts';
import type { Guarding } from '../guard/index.ts';
import { startTimer } from '../lib/index.ts';
import { httpErrors } from './errors.ts';
import { offersSocket, readWithoutOffer } from './other-offers.ts';
import { refusalOf } from './refusal.ts';
import { followFrames } from './socket-frames.ts';
import { createSocketPlaces } from './socket-places.ts';

/** The name that a client may offer; browsers accept no answer that takes none of those that they have offered. */
export const PROTOCOL = 'mahabharatha';
const MESSAGE_BYTES = 1024 * 1024;
/** Of what the client has not read, while it sends more. */
const UNREAD_BYTES = 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** After so many heartbeats without a sign of life, a client is gone; and so long may one message take to come. */
const SILENT_BEATS = 4;
/** After so many without a message and without work, a socket is closed: it has one of few places. */
const IDLE_BEATS = 120;
/** For clients to take leave when the server ends. */
const LEAVE_MS = 500;
const GOING_AWAY = 1001;

/** One client's socket. */
export interface Line {
  /** Resolves when the client has room for more; at once when it has gone. */
  send(message: object): Promise<void>;
  /** A message of bytes is undefined. */
  onMessage(take: (text: string | undefined) => void): void;
  readonly gone: AbortSignal;
}

/** What goes on at one socket. */
interface Work {
  /** Whether something that the client has asked for is not done yet. */
  isBusy(): boolean;
}

export interface SocketRoute {
  readonly path: RegExp;
  /** Throws what is answered instead of opening a socket. */
  open(user: string, part: string): (line: Line) => Work;
}

/** Opens web sockets for those that the guard lets in. */
export function addSocketRoute(server: FastifyInstance, guarding: Guarding, route: SocketRoute): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES,
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols: (offered) => offered.has(PROTOCOL) && PROTOCOL,
  });
  const places = createSocketPlaces();
  sockets.on('headers', (headers) => void headers.push('cache-control: no-store'));
  server.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!offersSocket(request)) return readWithoutOffer(server.server, request, socket, head);
    socket.on('error', () => socket.destroy());
    try {
      const { begin, leave } = admitted(request, { guarding, route, places });
      socket.once('close', leave);
      sockets.handleUpgrade(request, socket, head, (client) => keepAlive(client, socket, begin(lineOf(client))));
    } catch (error) {
      refuse(socket, error);
    }
  });
  server.addHook('preClose', () => takeLeave(sockets));
}

/** Resolves when no client is left; who comes now is refused, or the server would wait for that client's socket. */
async function takeLeave(sockets: WebSocketServer): Promise<void> {
  const left = new Promise((resolve) => sockets.close(resolve));
  for (const client of sockets.clients) client.close(GOING_AWAY, 'the server ends');
  const late = startTimer(LEAVE_MS, () => {
    for (const client of sockets.clients) client.terminate();
  });
  await left;
  late.cancel();
}

interface Door {
  readonly guarding: Guarding;
  readonly route: SocketRoute;
  readonly places: ReturnType<typeof createSocketPlaces>;
}

/** What a socket that is let in begins with, and what ends it. */
function admitted(
  request: IncomingMessage,
  { guarding, route, places }: Door,
): { begin(line: Line): Work; leave(): void } {
  const user = checkUpgrade(request, guarding);
  const [place = ''] = (request.url ?? '').split('?');
  const [, part] = route.path.exec(place) ?? [];
  if (part === undefined || request.method !== 'GET') throw httpErrors.NO_SOCKET({ place: place.slice(0, 200) });
  const offered = protocolsOf(request);
  if (offered[0] !== '' && !offered.includes(PROTOCOL)) throw httpErrors.PROTOCOL_UNKNOWN({ protocol: PROTOCOL });
  const begin = route.open(user, part);
  return { begin, leave: places.take(accountOf(guarding, user, request), part) };
}

function refuse(socket: Duplex, error: unknown): void {
  const { status, headers, body } = refusalOf(error);
  const text = JSON.stringify(body);
  const head = {
    ...headers,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    connection: 'close',
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${text}`);
}

function lineOf(client: WebSocket): Line {
  const gone = new AbortController();
  client.on('error', () => client.terminate());
  client.once('close', () => gone.abort());
  return {
    gone: gone.signal,
    send: (message) =>
      new Promise((resolve) => {
        client.send(JSON.stringify(message), () => resolve());
      }),
    onMessage: (take) => {
      client.on('message', (data: Buffer, isBinary) => take(isBinary ? undefined : data.toString('utf8')));
    },
  };
}

/** Ends the socket of a client that neither reads nor says anything, that sends on without reading, or that asks for nothing. */
function keepAlive(client: WebSocket, socket: Duplex, work: Work): void {
  const frames = followFrames();
  let [silent, unfinished, idle] = [0, 0, 0];
  let before = { unread: 0, read: 0 };
  const alive = (): void => {
    silent = 0;
    if (client.bufferedAmount > UNREAD_BYTES) client.terminate();
  };
  const look = setInterval(() => {
    const { bytesWritten = 0 } = socket as Duplex & { readonly bytesWritten?: number };
    const unread = client.bufferedAmount;
    const read = bytesWritten - unread;
    // A slow reader answers a ping after all that came before it, so what it reads counts as well.
    silent = before.unread > 0 && read > before.read ? 0 : silent + 1;
    unfinished = frames.isWhole() ? 0 : unfinished + 1;
    idle = work.isBusy() ? 0 : idle + 1;
    if (silent > SILENT_BEATS || unfinished > SILENT_BEATS) return client.terminate();
    if (idle > IDLE_BEATS) return client.close(GOING_AWAY, 'nothing was asked for in half an hour');
    if (unread === 0) client.ping();
    before = { unread, read };
  }, HEARTBEAT_MS);
  socket.on('data', frames.take);
  client.on('pong', alive);
  client.on('message', () => {
    [unfinished, idle] = [0, 0];
    alive();
  });
  client.on('ping', (data) => {
    alive();
    client.pong(data);
  });
  client.once('close', () => clearInterval(look));
}
