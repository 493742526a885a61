import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { endSession, listSessions } from './ask-server.ts';

const asked: string[] = [];
const server = createServer(({ method = '', url = '' }, response) => {
  asked.push(`${method} ${url}`);
  response.setHeader('content-type', 'application/json').end('{"sessions":[]}');
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

it('a server behind a path of a proxy is asked there: another program may be at the top, and would get the token', async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const url of ['', '/', '/sandbox', '/sandbox/'].map((place) => `http://127.0.0.1:${port}${place}`))
    await listSessions({ url, token: undefined });
  await endSession({ url: `http://127.0.0.1:${port}/sandbox`, token: undefined }, 'a/b');
  expect(asked).toEqual([
    'GET /v1/sessions',
    'GET /v1/sessions',
    'GET /sandbox/v1/sessions',
    'GET /sandbox/v1/sessions',
    'DELETE /sandbox/v1/sessions/a%2Fb',
  ]);
});
