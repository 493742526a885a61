import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What the scripted model does in one turn: says something (and stops), calls a tool, refuses, or never answers. */
export type Turn =
  | { readonly text: string }
  | { readonly call: { readonly name: string; readonly input: Readonly<Record<string, unknown>> } }
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  | 'hang';

/** A turn that is an answer of the model. */
export type Answer = Extract<Turn, { text: string } | { call: unknown }>;

/** The usage of every answer. */
export const USED = { input: 100, cached: 30, output: 40 };

export interface ProviderRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** How one provider speaks. */
export interface Api {
  /** A request for the next turn of a conversation; all others get an empty object. */
  asks(request: ProviderRequest): boolean;
  /** The events of an answer, as they stand in a stream. */
  stream(answer: Answer): readonly { readonly event?: string; readonly data: unknown }[];
}

export interface ProviderServer {
  readonly url: string;
  /** Those for the next turn. */
  readonly requests: readonly ProviderRequest[];
  /** All others, by their path. */
  readonly others: readonly string[];
  close(): Promise<void>;
}

/** A model provider with a list of turns in place of a model. After the last one it ends each conversation. */
export async function startProvider(
  api: Api,
  turns: readonly Turn[] | ((request: ProviderRequest) => Turn),
  { host = '127.0.0.1' }: { host?: string } = {},
): Promise<ProviderServer> {
  const left = typeof turns === 'function' ? [] : [...turns];
  const next = typeof turns === 'function' ? turns : (): Turn => left.shift() ?? { text: 'Done.' };
  const requests: ProviderRequest[] = [];
  const others: string[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response);
  });

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = incoming.url ?? '/';
    const request = { path, headers: incoming.headers, body: await bodyOf(incoming) };
    // A client that would rather have a web socket does without.
    if (incoming.headers.upgrade !== undefined) return void response.writeHead(426).end();
    if (!api.asks(request)) {
      others.push(`${incoming.method} ${path}`);
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    }
    requests.push(request);
    send(response, api, next(request));
  }

  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    requests,
    others,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, api: Api, turn: Turn): void {
  if (turn === 'hang') return;
  if ('status' in turn) {
    const headers = { 'content-type': 'application/json', ...turn.headers };
    return void response.writeHead(turn.status, headers).end(JSON.stringify(turn.body ?? {}));
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const { event, data } of api.stream(turn)) {
    response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
}

async function bodyOf(incoming: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  try {
    return JSON.parse(await text(incoming)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}
