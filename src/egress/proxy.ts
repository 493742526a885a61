import { timingSafeEqual } from 'node:crypto';
import { chmod, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { joinSockets, keyedDigest, reasonOf } from '../lib/index.ts';
import { egressIdentity } from '../protocol/index.ts';
import type { EgressRule } from '../protocol/index.ts';
import { admit } from './admission.ts';
import type { Denial, Resolve } from './admission.ts';
import { answerConnect, answerRequest } from './answers.ts';
import { createCrowd, createStrangers } from './crowd.ts';
import type { Dial } from './dial.ts';
import { forward } from './forward.ts';
import { awaitPreamble } from './preamble.ts';
import type { RefusalLog } from './refusal-log.ts';
import { readAbsoluteUri, readAuthority, targetText } from './target.ts';
import type { Target } from './target.ts';

export interface ProxyLimits {
  /** For the line that says whose a connection is. A door sends it at once. */
  readonly preambleMs: number;
  /** Connections that have not said it yet. */
  readonly strangers: number;
  /** For a request's head. */
  readonly headMs: number;
  readonly headerBytes: number;
  /** Between two requests. */
  readonly keepAliveMs: number;
  /** Without a byte in either direction. Models may think for long before they speak. */
  readonly idleMs: number;
  readonly connectMs: number;
  readonly perWorker: number;
  readonly all: number;
}

export const LIMITS: ProxyLimits = {
  preambleMs: 2000,
  // More than the system takes in at one go: who is here by right has spoken before the room is full again.
  strangers: 1024,
  headMs: 30_000,
  headerBytes: 32 * 1024,
  keepAliveMs: 60_000,
  idleMs: 15 * 60_000,
  connectMs: 15_000,
  perWorker: 128,
  all: 2048,
};

export interface ProxyOptions {
  readonly rules: readonly EgressRule[];
  /** Who has it knows the token of each worker. */
  readonly key: string;
  readonly resolve: Resolve;
  readonly dial: Dial;
  readonly log: RefusalLog;
  readonly limits?: Partial<ProxyLimits>;
}

interface Proxy {
  readonly options: ProxyOptions;
  readonly limits: ProxyLimits;
  readonly clients: WeakMap<Socket, Client>;
}

/** A connection of a worker. */
interface Client {
  readonly worker: number;
  /** One too many: all it gets is a reason. */
  readonly crowded: boolean;
  /** Requests that have no answer yet. */
  pending: number;
}

/** An HTTP server that is no web server but a proxy; who talks to it says first which worker it is. */
export function createProxy(options: ProxyOptions): Server {
  const limits = { ...LIMITS, ...options.limits };
  const proxy: Proxy = { options, limits, clients: new WeakMap() };
  const server = createServer({
    headersTimeout: limits.headMs,
    // A long upload is no attack; silence is, and has its own limit.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    connectionsCheckingInterval: Math.min(5000, limits.headMs),
  });
  server.timeout = limits.idleMs;
  // Twice the strangers: some have been sent away and are not gone yet.
  server.maxConnections = limits.all + 2 * limits.strangers;
  receive(server, proxy);
  server.on('request', (request, response) => void onRequest(proxy, request, response));
  server.on('connect', (request, socket: Socket, head) => void onConnect(proxy, { request, socket, head }));
  return server;
}

/** Whoever connects says first whose connection it is, and is counted from the beginning. */
function receive(server: Server, { options, limits, clients }: Proxy): void {
  const crowd = createCrowd(limits.perWorker, limits.all);
  const strangers = createStrangers(limits.strangers);
  // The parser gets a connection only after its first line, which is ours.
  const [parse] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    strangers.enter(socket);
    awaitPreamble(socket, limits.preambleMs, ({ worker, token }) => {
      strangers.leave(socket);
      if (!isTokenOf(options.key, worker, token)) return void socket.destroy();
      const place = crowd.enter(worker);
      if (place === 'none') return void socket.destroy();
      socket.once('close', () => crowd.leave(worker));
      clients.set(socket, { worker, crowded: place === 'standing', pending: 0 });
      parse.call(server, socket);
    });
  });
}

/** A task may say any number; the token it cannot know. */
function isTokenOf(key: string, worker: number, token: string): boolean {
  const wanted = keyedDigest(key, egressIdentity(worker));
  return wanted.length === token.length && timingSafeEqual(Buffer.from(wanted), Buffer.from(token));
}

/** Listens where workers can connect; one that listened there before loses the place in one step. */
export async function listen(server: Server, path: string): Promise<void> {
  const fresh = `${path}.new`;
  await rm(fresh, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(fresh, resolve);
  });
  await chmod(fresh, 0o777);
  await rename(fresh, path);
}

async function onRequest(proxy: Proxy, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const client = proxy.clients.get(request.socket);
  if (client === undefined) return void request.socket.destroy();
  client.pending += 1;
  response.once('close', () => (client.pending -= 1));
  response.on('error', () => undefined);
  const to = readAbsoluteUri(request.url ?? '');
  const what = to === undefined ? (request.url ?? '') : targetText(to.target);
  const deny = (denial: Denial): void => answerRequest(response, tell(proxy, client, what, denial), denial);
  if (to === undefined) return deny(NOT_FOR_PROXIES);
  if (wantsUpgrade(request)) return deny(NO_UPGRADE);
  const reached = await reach(proxy, client, to.target);
  if ('denial' in reached) return deny(reached.denial);
  const { upstream } = reached;
  if (response.destroyed) return void upstream.destroy();
  const { idleMs, headerBytes } = proxy.limits;
  const failed = (error: Error): void => deny(unreachable(error));
  forward(request, response, { to, upstream, idleMs, headerBytes, failed });
}

interface ConnectRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

async function onConnect(proxy: Proxy, { request, socket, head }: ConnectRequest): Promise<void> {
  const client = proxy.clients.get(socket);
  socket.on('error', () => undefined);
  // An answer to an earlier request would get into the tunnel.
  if (client === undefined || client.pending > 0) return void socket.destroy();
  const target = readAuthority(request.url ?? '');
  const what = target === undefined ? (request.url ?? '') : targetText(target);
  const deny = (denial: Denial): void => answerConnect(socket, tell(proxy, client, what, denial), denial);
  if (target === undefined) return deny(NOT_FOR_PROXIES);
  const reached = await reach(proxy, client, target);
  if ('denial' in reached) return deny(reached.denial);
  const { upstream } = reached;
  if (socket.destroyed) return void upstream.destroy();
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length > 0) upstream.write(head);
  joinSockets(socket, upstream, proxy.limits.idleMs);
}

/** A connection to the target, or why there is none. */
async function reach(proxy: Proxy, client: Client, target: Target): Promise<{ upstream: Socket } | { denial: Denial }> {
  const { options, limits } = proxy;
  if (client.crowded) return { denial: crowded(limits) };
  const admission = await admit(options.rules, target, options.resolve);
  if ('denial' in admission) return admission;
  try {
    return { upstream: await options.dial(admission.addresses, target.port, limits.connectMs) };
  } catch (error) {
    return { denial: unreachable(error) };
  }
}

/** Writes the refusal into the log, and says what it is called. */
function tell({ options }: Proxy, client: Client, what: string, { status, reason }: Denial): string {
  const how = status === 502 ? 'could not reach' : 'refused';
  options.log.tell(client.worker, how, what, reason);
  return `${how} ${what}`;
}

const NOT_FOR_PROXIES: Denial = {
  status: 400,
  reason: 'this is not what one asks a proxy for',
  advice: 'It does CONNECT host:port, and plain HTTP with the whole address (http://host/path).',
};

const NO_UPGRADE: Denial = {
  status: 403,
  reason: 'plain HTTP connections cannot be upgraded here',
  advice: 'Use the encrypted form (wss://, https://).',
};

const crowded = ({ perWorker }: ProxyLimits): Denial => ({
  status: 503,
  reason: `this worker has ${perWorker} connections already`,
  advice: 'Close some, or open fewer at a time.',
});

const unreachable = (error: unknown): Denial => ({
  status: 502,
  reason: reasonOf(error),
  advice: 'It is allowed, but it does not answer.',
});

/** Clients that offer HTTP/2 in passing go on without it; others mean it. */
function wantsUpgrade({ headers }: IncomingMessage): boolean {
  const wanted = headers.upgrade;
  return wanted !== undefined && wanted.toLowerCase() !== 'h2c';
}
