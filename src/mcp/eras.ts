import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { McpHttpHandler, McpServer } from '@modelcontextprotocol/server';
import type { McpSettings } from '../config/index.ts';
import { untilAll } from '../lib/index.ts';
import type { Clients } from './clients.ts';
import type { CodeRunner } from './code-runner.ts';
import type { Exchange } from './exchange.ts';
import { createLegacyClients } from './legacy-clients.ts';
import { createToolServer } from './tools.ts';

/** Streams of one user that wait for news. */
const MOST_SUBSCRIPTIONS = 64;

interface ErasRequest {
  readonly version: string;
  readonly settings: McpSettings;
  readonly clients: Clients;
  readonly onFailure: (error: unknown) => void;
}

export type Eras = ReturnType<typeof createEras>;

/** Both eras of the protocol: of 2025, with sessions of clients, and of 2026, in which each request stands alone. */
export function createEras({ version, settings, clients, onFailure }: ErasRequest) {
  const serverFor = (runner: CodeRunner): McpServer => createToolServer({ version, settings, runner });
  const legacy = createLegacyClients({
    openRunner: clients.open,
    createServer: serverFor,
    idleMs: settings.idle,
    onFailure,
  });
  const modern = new Map<string, McpHttpHandler>();
  const modernFor = (user: string): McpHttpHandler => {
    const known = modern.get(user);
    if (known !== undefined) return known;
    // Nothing tells the clients of a user apart: their sessions are the user's, and have the names that requests give.
    const runner = clients.open(user);
    const handler = createMcpHandler(() => serverFor(runner), {
      legacy: 'reject',
      // A client gives up when a long call keeps the beginning of its answer back.
      responseMode: 'sse',
      maxSubscriptions: MOST_SUBSCRIPTIONS,
    });
    modern.set(user, handler);
    return handler;
  };
  return {
    answer: async (exchange: Exchange): Promise<Response> => {
      const { request, body, user } = exchange;
      if (await isLegacyRequest(request, body)) return legacy.answer(exchange);
      return modernFor(user).fetch(request, { parsedBody: body });
    },
    expire: legacy.expire,
    close: (): Promise<void> => untilAll([legacy.closeAll(), ...[...modern.values()].map((each) => each.close())]),
  };
}
