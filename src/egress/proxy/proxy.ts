import { chmod, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { reasonOf } from '../../lib/index.ts';
import { isInReach } from '../../protocol/index.ts';
import type { EgressRule } from '../../protocol/index.ts';
import { admit } from './admission.ts';
import type { Resolve } from './admission.ts';
import { answerConnect, answerRequest } from './answers.ts';
import { createTurns } from './budget.ts';
import { receive } from './clients.ts';
import type { Client, Clients } from './clients.ts';
import { answerTo } from './denial.ts';
import type { Answer, Denial } from './denial.ts';
import type { Dial } from './dial.ts';
import { AS_IT_IS, forward } from './forward.ts';
import type { ModelRoute } from './model-route.ts';
import { awaitOpening, judgeOpening } from './opening.ts';
import type { RefusalLog } from './refusal-log.ts';
import { secured } from './secure.ts';
import { permissionFor, readAbsoluteUri, readAuthority, readOriginForm } from '../target/index.ts';
import type { HttpTarget, Target } from '../target/index.ts';
import { joinTunnel, refuseTunnel } from './tunnel.ts';

export const LIMITS = {
  /** For the first line, which names the worker. A door sends it at once. */
  preambleMs: 2000,
  /** Connections without this line yet: more than the system accepts at once, so that the line of a client of ours is read. */
  unnamed: 1024,
  /** For a request's head. */
  headMs: 30_000,
  headerBytes: 32 * 1024,
  /** Between two requests. */
  keepAliveMs: 60_000,
  /** Without a byte in either direction. A model may take long before it answers. */
  idleMs: 15 * 60_000,
  connectMs: 15_000,
  perWorker: 128,
  all: 2048,
  /** How many refusals a worker may cause. */
  refusals: { most: 32, perSecond: 20 },
  /** Names of one worker that are looked up at the same time. */
  lookups: 8,
};

export type ProxyLimits = typeof LIMITS;

export interface ProxyOptions {
  readonly rules: readonly EgressRule[];
  /** From it the token of each worker is made. */
  readonly key: string;
  readonly resolve: Resolve;
  readonly dial: Dial;
  readonly log: RefusalLog;
  /** The way on which credentials are added; without it there is none. */
  readonly model?: ModelRoute | undefined;
  readonly limits?: Partial<ProxyLimits>;
}

interface Proxy {
  readonly options: ProxyOptions;
  readonly limits: ProxyLimits;
  readonly clients: Clients;
  readonly lookUp: ReturnType<typeof createTurns>;
}

/** An HTTP server that only passes requests on. Each connection begins with a line that names its worker. */
export function createProxy(options: ProxyOptions): Server {
  const limits = { ...LIMITS, ...options.limits };
  const server = createServer({
    headersTimeout: limits.headMs,
    // A long upload is allowed; silence has a limit of its own.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    connectionsCheckingInterval: Math.min(5000, limits.headMs),
  });
  server.timeout = limits.idleMs;
  // Twice the unnamed: some were closed and are not gone yet.
  server.maxConnections = limits.all + 2 * limits.unnamed;
  const proxy: Proxy = {
    options,
    limits,
    clients: receive(server, options.key, limits),
    lookUp: createTurns(limits.lookups),
  };
  server.on('request', (request, response) => void onRequest(proxy, request, response));
  server.on('connect', (request, socket: Socket, head) => void onConnect(proxy, request, socket, head));
  return server;
}

/** Listens where workers can connect. The socket of an earlier proxy is replaced in one step. */
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
  // Clients send one request at a time; one that comes before the last answer counts as refused, and is not answered.
  if (client.busy) return proxy.clients.ignore(client);
  client.busy = true;
  response.once('close', () => {
    client.busy = client.refused;
    if (client.refused) request.socket.destroySoon();
  });
  const model = client.way === 'model' ? proxy.options.model : undefined;
  const to = readTarget(proxy, client, request);
  const deny = (denial: Denial): void => {
    client.refused = true;
    answerRequest(response, logRefusal(proxy, client, denial));
  };
  if (to === undefined) return deny(notPassedOn(client, request));
  if (wantsUpgrade(request)) return deny({ reason: 'upgrade', target: to.target });
  const reached = await reach(proxy, client, to.target);
  if ('denial' in reached) return deny(reached.denial);
  const { upstream } = reached;
  if (response.destroyed) return void upstream.destroy();
  const { idleMs, headerBytes } = proxy.limits;
  const failed = (error: Error): void => deny(unreachable(to.target, error));
  forward(request, response, { to, upstream, idleMs, headerBytes, change: model ?? AS_IT_IS, failed });
}

/** Where a request wants to go; undefined when it does not go on. */
function readTarget(
  { options }: Proxy,
  { way, tunnel }: Client,
  { method = '', url = '' }: IncomingMessage,
): HttpTarget | undefined {
  if (way === 'model') return options.model?.read(method, url);
  return tunnel === undefined ? readAbsoluteUri(url) : readOriginForm(url, tunnel);
}

async function onConnect(proxy: Proxy, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
  const client = proxy.clients.of(socket);
  socket.on('error', () => undefined);
  // An answer to an earlier request would get into the tunnel; and no tunnel is opened inside another.
  if (client === undefined || client.busy || client.tunnel !== undefined) return void socket.destroy();
  const target = client.way === 'model' ? undefined : readAuthority(request.url ?? '');
  const deny = (denial: Denial): void => answerConnect(socket, logRefusal(proxy, client, denial));
  if (target === undefined) return deny(notPassedOn(client, request));
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

/** Passes a tunnel's bytes on once it is known that they are meant for its target. */
async function passThrough(proxy: Proxy, { client, socket, upstream, target }: Tunnel): Promise<void> {
  const opening = await awaitOpening(socket, upstream, target, proxy.limits.headMs);
  const verdict = judgeOpening(target, opening);
  if (verdict === 'tunnel') return joinTunnel(socket, upstream, opening, proxy.limits.idleMs);
  upstream.destroy();
  if (verdict === 'nothing') return void socket.destroy();
  if (verdict !== 'http') return refuseTunnel(socket, opening, logRefusal(proxy, client, verdict));
  socket.unshift(opening.client);
  proxy.clients.examine(client, socket, target);
}

/** A connection to the target, or why there is none. */
async function reach(proxy: Proxy, client: Client, target: Target): Promise<{ upstream: Socket } | { denial: Denial }> {
  const { options, limits } = proxy;
  if (client.isOverLimit)
    return { denial: { reason: 'too-many-connections', target, detail: String(limits.perWorker) } };
  const model = client.way === 'model' ? options.model : undefined;
  const rules = model?.rules ?? (isInReach(client.reach, target.host, target.port) ? options.rules : []);
  const admission = await proxy.lookUp(client.worker, () => admit(rules, target, options.resolve));
  if ('denial' in admission) return admission;
  proxy.clients.letThrough(client);
  try {
    const upstream = await options.dial(admission.addresses, target.port, limits.connectMs);
    return { upstream: model?.secure ? await secured(upstream, target, limits.connectMs) : upstream };
  } catch (error) {
    return { denial: unreachable(target, error) };
  }
}

/** Writes the refusal into the log, and returns what to answer. */
function logRefusal({ options }: Proxy, client: Client, denial: Denial): Answer {
  const { target } = denial;
  const answer = answerTo(denial, target === undefined ? [] : permissionFor(options.rules, target).rules);
  options.log.add(client.worker, answer.refused);
  return answer;
}

const notPassedOn = ({ way }: Client, { method, url = '' }: IncomingMessage): Denial => ({
  reason: way === 'model' ? 'not-for-the-model' : 'not-for-proxies',
  target: undefined,
  detail: way === 'model' ? `${method} ${url}` : url,
});

const unreachable = (target: Target, error: unknown): Denial => ({
  reason: 'unreachable',
  target,
  detail: reasonOf(error),
});

/** A client that offers HTTP/2 goes on without it; one that asks for another upgrade does not. */
function wantsUpgrade({ headers }: IncomingMessage): boolean {
  const wanted = headers.upgrade;
  return wanted !== undefined && wanted.toLowerCase() !== 'h2c';
}
