import http, { IncomingMessage } from 'node:http';
import type { ClientRequest, RequestOptions } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { AppError } from '../../lib/index.ts';
import { startTimer } from '../../lib/index.ts';
import { engineErrors } from '../errors.ts';
import { describeEndpoint } from './endpoint.ts';
import type { DockerEndpoint } from './endpoint.ts';
import { connectionError, reasonIn, refusal } from './errors.ts';

/** One request, and what its answers mean. */
export interface Call {
  /** In words that follow "could not": "start container web". */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: object;
  /** Statuses that count as success although they are errors: what is to be removed is gone. */
  readonly fine?: readonly number[];
  /** Statuses that have an error of their own. */
  readonly errors?: Readonly<Record<number, (reason: string) => AppError>>;
  /** Starting and removing take longer than looking. */
  readonly slow?: boolean;
}

export interface Limits {
  readonly quickMs: number;
  readonly slowMs: number;
}

export const USUAL_LIMITS: Limits = { quickMs: 60_000, slowMs: 300_000 };

interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
  /** A tar archive, as large as it is. */
  readonly upload?: Readable;
}

export interface Connection {
  readonly place: string;
  /** The parsed answer. */
  ask<Answer>(call: Call): Promise<Answer>;
  /** The same; undefined when there is no such thing. */
  find<Answer>(call: Call): Promise<Answer | undefined>;
  /** For calls whose answer has no content. */
  tell(call: Call): Promise<void>;
  /** A stream of any length: only its beginning has a time limit, and with an upload not even that. */
  open(call: Call, options?: OpenOptions): Promise<IncomingMessage>;
  /** A connection that is no longer HTTP. */
  upgrade(call: Call): Promise<Duplex>;
}

/** HTTP to one engine: time limits, refusals and broken connections of every request are handled here. */
export function openConnection(endpoint: DockerEndpoint, limits: Limits): Connection {
  const place = describeEndpoint(endpoint);
  const target = { place, limits, request: requestsTo(endpoint) };
  return {
    place,
    ask: async <Answer>(call: Call) => (await exchange(target, call)) as Answer,
    find: async <Answer>(call: Call) => (await exchange(target, { ...call, fine: [404] })) as Answer | undefined,
    tell: async (call) => void (await exchange(target, call)),
    open: (call, options = {}) => open(target, call, options),
    upgrade: (call) => upgrade(target, call),
  };
}

interface Target {
  readonly place: string;
  readonly limits: Limits;
  readonly request: (options: RequestOptions) => ClientRequest;
}

/** The parsed answer; undefined when its status is one of the call's `fine` ones. */
function exchange(target: Target, call: Call): Promise<unknown> {
  return within(target, call, async (signal) => {
    const answer = await send(target, call, signal);
    const body = await text(answer);
    if (isFine(call, answer)) return undefined;
    if (isRefusal(answer)) throw refusalOf(target, call, answer, body);
    return body.trim() === '' ? undefined : (JSON.parse(body) as unknown);
  });
}

/** The signal also ends the answer while it is read, after this has returned. */
async function open(target: Target, call: Call, { signal, upload }: OpenOptions): Promise<IncomingMessage> {
  signal?.throwIfAborted();
  const begin = async (limit?: AbortSignal): Promise<IncomingMessage> => {
    const either = AbortSignal.any([signal, limit].filter((one) => one !== undefined));
    const answer = await send(target, call, either, upload);
    if (!isRefusal(answer) || isFine(call, answer)) return answer;
    throw refusalOf(target, call, answer, await text(answer));
  };
  try {
    return await (upload === undefined ? within(target, call, begin) : begin());
  } catch (error) {
    signal?.throwIfAborted();
    throw connectionError(error, { what: call.what, place: target.place });
  }
}

function upgrade(target: Target, call: Call): Promise<Duplex> {
  return within(target, call, async (signal) => {
    const answer = await sendUpgrade(target, call, signal);
    if (!(answer instanceof IncomingMessage)) return answer;
    throw refusalOf(target, call, answer, await text(answer));
  });
}

/** Does the work under the time limit of the call, which the signal stands for. */
async function within<Result>(
  { limits, place }: Target,
  { what, slow }: Call,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const waitedMs = slow === true ? limits.slowMs : limits.quickMs;
  const limit = new AbortController();
  const timer = startTimer(waitedMs, () => limit.abort(engineErrors.ENGINE_TIMEOUT({ call: what, place, waitedMs })));
  try {
    return await work(limit.signal);
  } catch (error) {
    limit.signal.throwIfAborted();
    throw connectionError(error, { what, place });
  } finally {
    timer.cancel();
  }
}

/** Resolves with the beginning of the answer. */
function send({ request }: Target, call: Call, signal: AbortSignal, upload?: Readable): Promise<IncomingMessage> {
  const type = upload === undefined ? 'application/json' : 'application/x-tar';
  const headers = call.body === undefined && upload === undefined ? {} : { 'Content-Type': type };
  const sent = request({ method: call.method, path: addressOf(call), headers, signal });
  if (upload === undefined) sent.end(call.body === undefined ? undefined : JSON.stringify(call.body));
  else pipeline(upload, sent, (error) => void (error && sent.destroy(error)));
  return answerTo(sent);
}

/** Resolves with the connection, or with an answer when the engine does not upgrade it. */
function sendUpgrade({ request }: Target, call: Call, signal: AbortSignal): Promise<IncomingMessage | Duplex> {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const content =
    body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
  const headers = { Connection: 'Upgrade', Upgrade: 'tcp', ...content };
  const sent = request({ method: call.method, path: addressOf(call), headers, signal });
  const upgraded = new Promise<Duplex>((resolve) => {
    sent.once('upgrade', (_, socket, head) => {
      socket.unshift(head);
      resolve(socket);
    });
  });
  // Its length is told: what follows a body without one could be taken for the program's stdin.
  sent.end(body);
  return Promise.race([upgraded, answerTo(sent)]);
}

function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // The listener stays: an error after the answer has begun reaches its reader, and must not be unhandled here.
    sent.on('error', reject);
    // An upgrade that was not asked for closes the connection without an error.
    sent.once('close', () => reject(new Error('it closed the connection without an answer')));
  });
}

/** Makes requests over connections that are used again. */
function requestsTo(endpoint: DockerEndpoint): Target['request'] {
  if (endpoint.kind === 'tcp' && endpoint.tls !== null) {
    const { host, port } = endpoint;
    const { verify, ...files } = endpoint.tls;
    const agent = new https.Agent({ ...files, keepAlive: true, rejectUnauthorized: verify });
    return (options) => https.request({ ...options, host, port, agent });
  }
  const agent = new http.Agent({ keepAlive: true });
  const place = endpoint.kind === 'tcp' ? { host: endpoint.host, port: endpoint.port } : { socketPath: endpoint.path };
  return (options) => http.request({ ...options, ...place, agent });
}

function addressOf({ path, query = {} }: Call): string {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

/** 304 is success: it was so already. An engine never redirects, so whatever does is no engine. */
const isRefusal = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 300 && statusCode !== 304;
const isFine = ({ fine }: Call, { statusCode = 0 }: IncomingMessage): boolean => fine?.includes(statusCode) === true;

function refusalOf({ place }: Target, call: Call, { statusCode = 0 }: IncomingMessage, body: string): AppError {
  const reason = reasonIn(body, statusCode);
  return call.errors?.[statusCode]?.(reason) ?? refusal({ what: call.what, place }, reason);
}
