import { request as startRequest, STATUS_CODES } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Transform } from 'node:stream';
import { inSeconds } from '../../lib/index.ts';
import { framingOf, headersToPassOn } from './headers.ts';
import type { PassedHeaders } from './headers.ts';
import type { HttpTarget } from '../target/index.ts';

interface Forwarding {
  readonly to: HttpTarget;
  /** Already connected to an address that was checked. */
  readonly upstream: Socket;
  readonly idleMs: number;
  readonly headerBytes: number;
  /** What changes on the way. */
  readonly change: Change;
  /** There is no answer, or none that can be passed on. */
  readonly failed: (error: Error) => void;
}

/** How a request and its answer are changed on the way. */
export interface Change {
  /** Over TLS. */
  readonly secure: boolean;
  /** The headers that go on, from a list of name, value, name, value … */
  request(raw: readonly string[]): PassedHeaders;
  answer(raw: readonly string[]): PassedHeaders;
  /** The answer's body goes through it. */
  mask?(): Transform;
}

/** Only what concerns one connection. */
export const AS_IT_IS: Change = { secure: false, request: headersToPassOn, answer: headersToPassOn };

/** Passes one HTTP request on over a connection of its own, and passes its answer back. */
export function forward(request: IncomingMessage, response: ServerResponse, how: Forwarding): void {
  const { to, upstream, idleMs, headerBytes, change, failed } = how;
  upstream.setTimeout(idleMs, () => upstream.destroy(new Error(`silent for ${inSeconds(idleMs)}`)));
  const onward = startRequest({
    method: request.method ?? 'GET',
    path: to.path,
    // Without an agent: it would connect by itself, and keep connections for other requests.
    createConnection: () => upstream,
    setHost: false,
    insecureHTTPParser: false,
    maxHeaderSize: headerBytes,
  });
  onward.on('error', (error) => {
    // An answer may be complete before its request is: a server need not read all of that.
    if (!response.writableEnded) failed(error);
  });
  onward.on('response', (answer) => passBack(answer, response, how));
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  try {
    for (const [name, values] of change.request(request.rawHeaders)) onward.setHeader(name, single(values));
    onward.setHeader('Host', hostHeader(to, change.secure ? 443 : 80));
    const framing = framingOf(request.headers);
    if (framing !== undefined) onward.setHeader(...framing);
    if (framing === undefined) onward.end();
    else request.pipe(onward);
  } catch (error) {
    onward.destroy(error as Error);
  }
}

/** The name as it was asked for, whatever the client's own Host header says. */
function hostHeader({ target: { host, port } }: HttpTarget, usualPort: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === usualPort ? name : `${name}:${port}`;
}

function passBack(
  answer: IncomingMessage,
  response: ServerResponse,
  { change, failed }: Pick<Forwarding, 'change' | 'failed'>,
): void {
  try {
    response.sendDate = false;
    for (const [name, values] of change.answer(answer.rawHeaders)) response.setHeader(name, single(values));
    const length = answer.headers['content-length'];
    if (length !== undefined) response.setHeader('Content-Length', length);
    const status = answer.statusCode ?? 502;
    // A server's own words could repeat what is masked.
    response.writeHead(status, (change.mask === undefined ? answer.statusMessage : STATUS_CODES[status]) ?? '');
  } catch (error) {
    answer.destroy();
    failed(error as Error);
    return;
  }
  answer.on('error', () => response.destroy());
  answer.on('aborted', () => response.destroy());
  const mask = change.mask?.();
  if (mask === undefined) answer.pipe(response);
  else answer.pipe(mask).pipe(response);
}

const single = (values: readonly string[]): string | string[] =>
  values.length === 1 ? (values[0] ?? '') : [...values];
