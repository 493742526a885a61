import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { guardErrors } from '../guard/errors.ts';
import { AppError, asAppError, hasCode } from '../lib/index.ts';

/** A request as the SDK takes it, with what it does not need to know of its connection. */
export interface Exchange {
  readonly user: string;
  readonly request: Request;
  /** Undefined when there is none. */
  readonly body: unknown;
  /** The answer is complete, or the client has gone. */
  readonly closed: Promise<void>;
}

const SILENT_MS = 60_000;
/** What the SDK reads of a request, beside those that begin with "mcp-". */
const HEADERS: ReadonlySet<string> = new Set(['accept', 'content-type', 'last-event-id']);

/** Without its body; aborted when the client goes before its answer is complete. */
export function webRequest(incoming: IncomingMessage, outgoing: ServerResponse): Request {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  const headers = Object.entries(incoming.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' && (HEADERS.has(name) || name.startsWith('mcp-')) ? [[name, value]] : [],
  );
  return new Request('http://localhost/mcp', { method: incoming.method ?? 'GET', headers, signal: gone.signal });
}

/** Throws BODY_TOO_LARGE. */
export async function readBody(body: Readable, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw guardErrors.BODY_TOO_LARGE({ limit });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `silentMs`: after so long a client that takes nothing of what is there for it counts as gone. */
export function send(response: Response, outgoing: ServerResponse, silentMs = SILENT_MS): void {
  // A stream has a sign of life every 15 seconds, so that a connection without one is one that nobody reads.
  outgoing.setTimeout(silentMs, () => outgoing.destroy());
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void outgoing.end();
  // A client waits for the headers, and gives up when a long call keeps them back.
  outgoing.flushHeaders();
  const body = Readable.fromWeb(response.body);
  body.on('error', () => outgoing.destroy());
  outgoing.once('close', () => body.destroy());
  body.pipe(outgoing);
}

const STATUS: Readonly<Record<string, number>> = {
  TOKEN_REFUSED: 401,
  HOST_REFUSED: 403,
  ORIGIN_REFUSED: 403,
  BODY_TOO_LARGE: 413,
  BODIES_FULL: 503,
  CLIENTS_FULL: 503,
};

/** What is wrong with a request, in the form of the protocol. */
export function refusal(error: unknown): Response {
  const known = asAppError(error);
  const status = STATUS[known.code] ?? 500;
  const isOwn = error instanceof AppError;
  const message = isOwn ? `${known.message} ${known.hint}` : 'The server has failed.';
  const headers = hasCode(error, guardErrors.TOKEN_REFUSED) ? { 'www-authenticate': 'Bearer' } : {};
  return protocolError(status, -32_000, message, headers);
}

export function protocolError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}
