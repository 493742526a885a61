import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { McpSettings } from '../config/index.ts';
import { guardingOf, listenError } from '../guard/index.ts';
import { repeat, within } from '../lib/index.ts';
import { createAnswerer } from './answer.ts';
import { createClients } from './clients.ts';
import { createEras } from './eras.ts';
import { closeAll, openLate } from './late-runner.ts';
import type { Closing, Place } from './late-runner.ts';

/** For all of a request's headers and its body to come. */
const REQUEST_MS = 60_000;
/** How often clients are looked for that are gone. */
const LOOK_MS = 30_000;
/** For the last answers to be read when the server ends. */
const LAST_MS = 2000;

interface HttpRequest {
  readonly host: string;
  readonly port: number;
  /** Users by token; null: every request is answered. */
  readonly tokens: ReadonlyMap<string, string> | null;
  readonly version: string;
  readonly settings: McpSettings;
  readonly place: Place;
  readonly onNote: (note: string) => void;
}

export interface OpenMcp {
  readonly address: string;
  close(): Promise<void>;
}

/** Starts to listen when code can run. */
export async function serveOverHttp(request: HttpRequest): Promise<OpenMcp> {
  const { host, tokens, settings, version, place, onNote } = request;
  const onFailure = (error: unknown): void => onNote(String(error));
  const runner = openLate(place);
  const clients = createClients(runner, settings);
  const eras = createEras({ version, settings, clients, onFailure });
  const answerer = createAnswerer({ guarding: guardingOf(host, tokens, []), eras, onFailure });
  const server = createServer(
    { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, connectionsCheckingInterval: REQUEST_MS / 10 },
    answerer.listener,
  );
  const looks = [clients.watch(onFailure), repeat(LOOK_MS, eras.expire, onFailure)];
  // From the last to the first: with the containers the calls end, and are answered, before their connections end.
  const closing: Closing = [
    async () => server.closeAllConnections(),
    eras.close,
    () => within(LAST_MS, answerer.settled()),
    runner.close,
    async () => looks.forEach((look) => look.cancel()),
    async () => server.close(),
  ];
  try {
    await runner.ready();
    return { address: await listen(server, request), close: () => closeAll(closing) };
  } catch (error) {
    await closeAll(closing).catch(onFailure);
    throw error;
  }
}

async function listen(server: Server, { host, port }: Pick<HttpRequest, 'host' | 'port'>): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, resolve);
  }).catch((error: unknown) => {
    throw listenError(error, { host, port });
  });
  const { port: taken } = server.address() as AddressInfo;
  return `http://${host.includes(':') ? `[${host}]` : host}:${taken}/mcp`;
}
