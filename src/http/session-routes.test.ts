import { once } from 'node:events';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { waitUntil } from '../../test/support/wait-until.ts';
import type { Sessions } from '../sandbox/index.ts';
import type { Admission } from './admission.ts';
import { createServer } from './server.ts';
import { sessionRoutes } from './session-routes.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const admission = { check: () => undefined, checkRate: () => undefined } as unknown as Admission;
let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  vi.useRealTimers();
});

/** A server with these sessions. */
async function listening(sessions: object): Promise<{ readonly port: number; readonly closed: Promise<unknown> }> {
  const routes = sessionRoutes(sessions as Sessions, admission);
  const guarding = { tokens: null, origins: [], names: 'local' as const };
  const server = createServer({ routes, guarding, admission, version: '1', log: silent });
  const closed = new Promise((resolve) => {
    server.addHook('onRequest', async (_, reply) => void once(reply.raw, 'close').then(resolve));
  });
  await server.listen({ host: '127.0.0.1', port: 0 });
  close = () => server.close();
  return { port: (server.server.address() as AddressInfo).port, closed };
}

it.each(['text/event-stream', 'application/json'])(
  'a client that goes while its command is prepared is not waited for, and its command is not begun: %s',
  async (accept) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const done: string[] = [];
    let prepared: ((wish: object) => void) | undefined;
    const { port, closed } = await listening({
      prepare: () => new Promise((resolve) => (prepared = resolve)),
      exec: async () => void done.push('exec'),
      kill: async () => void done.push('kill'),
    });
    const client = connect(port, '127.0.0.1');
    const body = '{"command":"true","env_file":".env"}';
    const head = `POST /v1/sessions/x/exec HTTP/1.1\r\nhost: localhost\r\naccept: ${accept}\r\ncontent-type: application/json`;
    client.write(`${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    await waitUntil('it is prepared', () => prepared !== undefined);
    client.destroy();
    await closed;
    prepared?.({});
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(done).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  },
);
