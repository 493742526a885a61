import { McpServer } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import type { RunnerOfClient } from './clients.ts';
import type { Exchange } from './exchange.ts';
import { createLegacyClients } from './legacy-clients.ts';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

const exchange = (): Exchange => ({
  user: 'anna',
  request: new Request('http://localhost/mcp', {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
  }),
  body: INITIALIZE,
  closed: Promise.resolve(),
});

it('a client that could not be let in is not kept', async () => {
  const ended: number[] = [];
  let opened = 0;
  const clients = createLegacyClients({
    openRunner: () => {
      const number = opened++;
      return { end: async () => void ended.push(number) } as unknown as RunnerOfClient;
    },
    createServer: () => {
      const server = new McpServer({ name: 'test', version: '1' });
      if (opened > 1) server.connect = () => Promise.reject(new Error('no connection'));
      return server;
    },
    idleMs: 60_000,
    onFailure: () => undefined,
  });
  expect((await clients.answer(exchange())).status).toBe(200);
  await expect(clients.answer(exchange())).rejects.toThrow('no connection');
  expect(ended).toEqual([1]);
  await clients.closeAll();
  expect(ended).toEqual([1, 0]);
});
