import { chmod, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { reasonOf } from '../../lib/index.ts';
import type { EgressRule } from '../../protocol/index.ts';
import { admit } from './admission.ts';
import type { Resolve } from './admission.ts';
import { answerConnect, answerRequest } from './answers.ts';
import { createTurns } from './budget.ts';
import type { BudgetLimits } from './budget.ts';
import { receive } from './clients.ts';
import type { Client, Clients } from './clients.ts';
import { answerTo } from './denial.ts';
import type { Answer, Denial } from './denial.ts';
import type { Dial } from './dial.ts';
import { forward } from './forward.ts';
import { hearOpening, judgeOpening } from './opening.ts';
import type { RefusalLog } from './refusal-log.ts';
import { permissionFor, readAbsoluteUri, readAuthority, readOriginForm } from '../target/index.ts';
import type { Target } from '../target/index.ts';
import { joinTunnel, refuseTunnel } from './tunnel.ts';

export interface ProxyLimits {
  /** For the line that says whose a connection is. A door sends it at once. */
  readonly preambleMs: number;
  /** Connections that have not said it yet. */
  readonly unnamed: number;
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
  /** What refusals of one worker may cost. */
  readonly refusals: BudgetLimits;
  /** Names of one worker that are looked up at the same time. */
  readonly lookups: number;
}

export const LIMITS: ProxyLimits = {
  preambleMs: 2000,
  // More than the system accepts at one go: a client of ours has sent its first line before there are as many again.
  unnamed: 1024,
  headMs: 30_000,
  headerBytes: 32 * 1024,
  keepAliveMs: 60_000,
  idleMs: 15 * 60_000,
  connectMs: 15_000,
  perWorker: 128,
  all: 2048,
  refusals: { most: 32, perSecond: 20 },
  lookups: 8,
};

export interface ProxyOptions {
  readonly rules: readonly EgressRule[];
  /** From it the token of each worker is made. */
  readonly key: string;
  readonly resolve: Resolve;
  readonly dial: Dial;
  readonly log: RefusalLog;
  readonly limits?: Partial<ProxyLimits>;
}

interface Proxy {
  readonly options: ProxyOptions;
  readonly limits: ProxyLimits;
  readonly clients: Clients;
  readonly lookUp: ReturnType<typeof createTurns>;
}

/** An HTTP server that is no web server but a proxy; a client says first which worker it is. */
export function createProxy(options: ProxyOptions): Server {
  const limits = { ...LIMITS, ...options.limits };
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
  // Twice the unnamed: some have been sent away and are not gone yet.
  server.maxConnections = limits.all + 2 * limits.unnamed;
  const proxy: Proxy = {
    options,
    limits,
    clients: receive(server, options.key, limits),
    lookUp: createTurns(limits.lookups),
  };
  server.on('request', (request, response) => void onRequest(proxy, request, response));
  server.on('connect', (request, socket: Socket, head) => void onConnect(proxy, { request, socket, head }));
  return server;
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
  const client = proxy.clients.of(request.socket);
  if (client === undefined) return void request.socket.destroy();
  response.on('error', () => undefined);
  // No client of today asks again before it has its answer; what it asks then costs and gets none.
  if (client.busy) return proxy.clients.ignore(client);
  client.busy = true;
  response.once('close', () => {
    client.busy = client.refused;
    if (client.refused) request.socket.destroySoon();
  });
  const to =
    client.tunnel === undefined ? readAbsoluteUri(request.url ?? '') : readOriginForm(request.url ?? '', client.tunnel);
  const deny = (denial: Denial): void => {
    client.refused = true;
    answerRequest(response, tell(proxy, client, denial));
  };
  if (to === undefined) return deny(notForProxies(request));
  if (wantsUpgrade(request)) return deny({ reason: 'upgrade', target: to.target });
  const reached = await reach(proxy, client, to.target);
  if ('denial' in reached) return deny(reached.denial);
  const { upstream } = reached;
  if (response.destroyed) return void upstream.destroy();
  const { idleMs, headerBytes } = proxy.limits;
  const failed = (error: Error): void => deny(unreachable(to.target, error));
  forward(request, response, { to, upstream, idleMs, headerBytes, failed });
}

interface ConnectRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  readonly head: Buffer;
}

async function onConnect(proxy: Proxy, { request, socket, head }: ConnectRequest): Promise<void> {
  const client = proxy.clients.of(socket);
  socket.on('error', () => undefined);
  // An answer to an earlier request would get into the tunnel; a tunnel leads to no other one.
  if (client === undefined || client.busy || client.tunnel !== undefined) return void socket.destroy();
  const target = readAuthority(request.url ?? '');
  const deny = (denial: Denial): void => answerConnect(socket, tell(proxy, client, denial));
  if (target === undefined) return deny(notForProxies(request));
  const reached = await reach(proxy, client, target);
  if ('denial' in reached) return deny(reached.denial);
  const { upstream } = reached;
  if (socket.destroyed) return void upstream.destroy();
  socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
  if (head.length > 0) socket.unshift(head);
  await passThrough(proxy, { client, socket, upstream, target });
}

interface Tunnel {
  readonly client: Client;
  readonly socket: Socket;
  readonly upstream: Socket;
  readonly target: Target;
}

/** Carries a tunnel's bytes once it is known that they are meant for its target. */
async function passThrough(proxy: Proxy, { client, socket, upstream, target }: Tunnel): Promise<void> {
  const opening = await hearOpening(socket, upstream, target, proxy.limits.headMs);
  const verdict = judgeOpening(target, opening);
  if (verdict === 'tunnel') return joinTunnel(socket, upstream, opening, proxy.limits.idleMs);
  upstream.destroy();
  if (verdict === 'nothing') return void socket.destroy();
  if (verdict !== 'http') return refuseTunnel(socket, opening, tell(proxy, client, verdict));
  socket.unshift(opening.client);
  proxy.clients.examine(client, socket, target);
}

/** A connection to the target, or why there is none. */
async function reach(proxy: Proxy, client: Client, target: Target): Promise<{ upstream: Socket } | { denial: Denial }> {
  const { options, limits } = proxy;
  if (client.crowded) return { denial: { reason: 'too-many-connections', target, detail: String(limits.perWorker) } };
  const admission = await proxy.lookUp(client.worker, () => admit(options.rules, target, options.resolve));
  if ('denial' in admission) return admission;
  proxy.clients.letThrough(client);
  try {
    return { upstream: await options.dial(admission.addresses, target.port, limits.connectMs) };
  } catch (error) {
    return { denial: unreachable(target, error) };
  }
}

/** Writes the refusal into the log, and returns what to answer. */
function tell({ options }: Proxy, client: Client, denial: Denial): Answer {
  const { target } = denial;
  const answer = answerTo(denial, target === undefined ? [] : permissionFor(options.rules, target).rules);
  options.log.tell(client.worker, answer.refused);
  return answer;
}

const notForProxies = ({ url = '' }: IncomingMessage): Denial => ({
  reason: 'not-for-proxies',
  target: undefined,
  detail: url,
});

const unreachable = (target: Target, error: unknown): Denial => ({
  reason: 'unreachable',
  target,
  detail: reasonOf(error),
});

/** Clients that offer HTTP/2 in passing go on without it; others mean it. */
function wantsUpgrade({ headers }: IncomingMessage): boolean {
  const wanted = headers.upgrade;
  return wanted !== undefined && wanted.toLowerCase() !== 'h2c';
}
