import { randomUUID } from 'node:crypto';
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import { startTimer, untilAll } from '../lib/index.ts';
import type { Timer } from '../lib/index.ts';
import type { RunnerOfClient } from './clients.ts';
import { mcpErrors } from './errors.ts';
import { protocolError } from './exchange.ts';
import type { Exchange } from './exchange.ts';

/** Of one user. */
const MOST_CLIENTS = 64;
/** For a client to come back whose stream has ended. */
const AWAY_MS = 10_000;

interface LegacyClient {
  readonly user: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly runner: RunnerOfClient;
  readonly server: McpServer;
  /** Answers that are under way. */
  open: number;
  /** It keeps a stream open as long as it is there. */
  hasStream: boolean;
  /** An answer was broken off, and since then it has asked for nothing. */
  isCutOff: boolean;
  away: Timer | undefined;
  idleSince: number;
}

interface Known {
  readonly all: Set<LegacyClient>;
  /** Those that have been welcomed. */
  readonly byId: Map<string, LegacyClient>;
}

interface LegacyRequest {
  readonly openRunner: (user: string) => RunnerOfClient;
  readonly createServer: (runner: RunnerOfClient) => McpServer;
  readonly idleMs: number;
  readonly onFailure: (error: unknown) => void;
}

export type LegacyClients = ReturnType<typeof createLegacyClients>;

/** Clients of the protocol's versions that have sessions: from `initialize` to DELETE, or until they are idle. */
export function createLegacyClients(request: LegacyRequest) {
  const known: Known = { all: new Set(), byId: new Map() };
  return {
    answer: async (exchange: Exchange): Promise<Response> => {
      const id = exchange.request.headers.get('mcp-session-id');
      if (id === null && !isInitialize(exchange.body))
        return protocolError(400, -32_000, 'Mcp-Session-Id is missing: send "initialize" first.');
      const client = id === null ? await welcome(request, known, exchange.user) : known.byId.get(id);
      // To other users it does not exist.
      if (client === undefined || client.user !== exchange.user)
        return protocolError(404, -32_001, 'There is no such session: send "initialize" again.');
      track(known, client, exchange, request.onFailure);
      const response = await client.transport.handleRequest(exchange.request, { parsedBody: exchange.body });
      if (exchange.request.method === 'GET' && response.ok) client.hasStream = true;
      // A refused "initialize" has opened no session.
      if (client.transport.sessionId === undefined) await drop(client);
      return response;
    },
    /** Forgets the clients that were silent for too long. */
    expire: async (): Promise<void> => {
      const now = performance.now();
      const silent = [...known.all].filter(({ open, idleSince }) => open === 0 && now - idleSince > request.idleMs);
      await untilAll(silent.map(drop));
    },
    closeAll: (): Promise<void> => untilAll([...known.all].map(drop)),
  };
}

const drop = ({ server }: LegacyClient): Promise<void> => server.close();

const isInitialize = (body: unknown): boolean => (Array.isArray(body) ? body : [body]).some(isInitializeRequest);

/** Throws CLIENTS_FULL. */
async function welcome(request: LegacyRequest, known: Known, user: string): Promise<LegacyClient> {
  const { openRunner, createServer, onFailure } = request;
  const room = makeRoom(known, user);
  const runner = openRunner(user);
  const server = createServer(runner);
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void known.byId.set(id, client),
    // The answer to DELETE comes when its containers are gone.
    onsessionclosed: () => runner.end(),
  });
  const client: LegacyClient = {
    user,
    transport,
    runner,
    server,
    open: 0,
    hasStream: false,
    isCutOff: false,
    away: undefined,
    idleSince: performance.now(),
  };
  known.all.add(client);
  const forget = (): void => {
    if (!known.all.delete(client)) return;
    known.byId.delete(transport.sessionId ?? '');
    client.away?.cancel();
    runner.end().catch(onFailure);
  };
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has no events
  server.server.onclose = forget;
  try {
    await Promise.all([room, server.connect(transport)]);
  } catch (error) {
    await drop(client).catch(onFailure);
    forget();
    throw error;
  }
  return client;
}

/** A client that goes without a word leaves its session behind: the oldest of those make room. Throws CLIENTS_FULL. */
function makeRoom({ all }: Known, user: string): Promise<unknown> {
  const own = [...all].filter((client) => client.user === user);
  const silent = own.filter(({ open }) => open === 0).toSorted((one, other) => one.idleSince - other.idleSince);
  const surplus = Math.max(0, own.length + 1 - MOST_CLIENTS);
  if (silent.length < surplus) throw mcpErrors.CLIENTS_FULL({ limit: MOST_CLIENTS });
  return untilAll(silent.slice(0, surplus).map(drop));
}

/**
 * A client that has kept a stream open and keeps none any more, or has broken an answer off, may come back. Otherwise the sessions
 * of the first end; those of the second stay until they are idle, as it never shows whether it is there, and its calls end.
 */
function track({ all }: Known, client: LegacyClient, exchange: Exchange, onFailure: (error: unknown) => void): void {
  client.away?.cancel();
  client.isCutOff = false;
  client.open += 1;
  void exchange.closed.then(() => {
    client.open -= 1;
    client.idleSince = performance.now();
    client.isCutOff ||= exchange.request.signal.aborted;
    if (client.open > 0 || !all.has(client)) return;
    const { hasStream, isCutOff, runner } = client;
    if (hasStream) client.away = startTimer(AWAY_MS, () => void runner.end().catch(onFailure));
    else if (isCutOff) client.away = startTimer(AWAY_MS, runner.endCalls);
  });
}
