import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { containersOf, mcpOverHttp } from '../support/mcp.ts';
import type { McpServer } from '../support/mcp.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildBunImage, buildSandboxImage, docker, whySkipped } from '../support/worker-image.ts';

const MODERN = { pin: '2026-07-28' } as const;
const TOKENS = { anna: 'anna-0123456789abcdef', ben: 'ben-0123456789abcdef' };
const WRITE = 'await Bun.write("/packages/kept", "1")';
const LOOK = 'console.log(await Bun.file("/packages/kept").exists())';
const FOREVER = 'console.log("begun"); for (;;);';

function inFolder(name: string, text: string): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'mahabharatha-mcp-file-')), name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

const tokenFile = (): string =>
  inFolder(
    'tokens',
    Object.entries(TOKENS)
      .map(([user, token]) => `${user} ${token}\n`)
      .join(''),
  );

interface Asking extends Omit<RequestInit, 'headers'> {
  readonly headers?: Record<string, string>;
}

const ask = (server: McpServer, init: Asking, place = ''): Promise<Response> =>
  fetch(`${server.address}${place}`, {
    method: 'POST',
    ...init,
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...init.headers },
  });

/** The process of a call, as the host numbers it. A container that does not run has none. */
function programIn(container = ''): number | undefined {
  const { stdout } = spawnSync('docker', ['top', container, '-eo', 'pid,args'], { encoding: 'utf8' });
  // What waits for the next call names its program, too.
  const line = stdout.split('\n').find((each) => each.includes('main.ts') && !each.includes('wait.js'));
  return line === undefined ? undefined : Number.parseInt(line, 10);
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

describe.skipIf(docker.why !== '')(`mcp over HTTP${whySkipped}`, () => {
  let open: McpServer;
  let guarded: McpServer;
  beforeAll(async () => {
    await buildSandboxImage();
    await buildBunImage();
    const config = inFolder(
      'config.yaml',
      'mcp: { cpus: 1, memory: 256m, sessions: 3, timeout: 9s, longest_timeout: 20s }\n',
    );
    [open, guarded] = await Promise.all([
      mcpOverHttp(),
      mcpOverHttp({ MAHABHARATHA_MCP_SESSIONS: '2' }, ['--config', config, '--token-file', tokenFile()]),
    ]);
  });
  afterAll(async () => {
    for (const server of [open, guarded]) {
      expect(await server.end()).toBe(0);
      expect(server.notes()).not.toMatch(/warning|error/i);
      expect(containersOf(server)).toEqual([]);
    }
  });

  it.each([
    ['2025, with sessions of clients', 'legacy'],
    ['2026, in which each request stands alone', MODERN],
    ['the version that it finds', 'auto'],
  ] as const)('serves clients of %s', async (_, mode) => {
    const { client, run } = await open.connect({ mode });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('run_code');
    expect(await run('console.log(6 * 7)')).toMatchObject({ stdout: '42\n', exit_code: 0 });
    expect(await run('throw new Error("no luck")')).toMatchObject({ exit_code: 1 });
    await client.close();
  });

  it('two clients never share a session, whatever they call it', async () => {
    const [one, other] = await Promise.all([open.connect(), open.connect()]);
    await one.run(WRITE);
    expect((await other.run(LOOK)).stdout).toBe('false\n');
    expect((await one.run(LOOK)).stdout).toBe('true\n');
    await Promise.all([one.transport.terminateSession(), other.transport.terminateSession()]);
  });

  it('a session that is deleted leaves no container, and is not known any more', async () => {
    // Those of earlier clients may go meanwhile.
    const before = containersOf(open);
    const own = (): string[] => containersOf(open).filter((one) => !before.includes(one));
    const { run, transport, client } = await open.connect();
    await run('');
    await run('', { session_id: 'more' });
    expect(own()).toHaveLength(2);
    const id = transport.sessionId ?? '';
    await transport.terminateSession();
    expect(own()).toEqual([]);
    const { status } = await ask(open, {
      headers: { 'mcp-session-id': id },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    expect(status).toBe(404);
    await client.close();
  });

  it('a client that goes without a word leaves no container, and its call ends', async () => {
    const before = containersOf(open);
    const { run, client } = await open.connect();
    await run('');
    const call = run(FOREVER, { timeout_ms: 600_000 }).catch(() => undefined);
    await client.close();
    await waitUntil('its container is gone', () => containersOf(open).every((id) => before.includes(id)));
    await call;
  });

  it('a client without a stream that breaks an answer off and does not come back: its call ends, and its session stays', async () => {
    const before = containersOf(open);
    const opened = await ask(open, { body: INITIALIZE });
    await opened.text();
    const headers = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
    const params = { name: 'run_code', arguments: { code: FOREVER, timeout_ms: 600_000 } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    const controller = new AbortController();
    await ask(open, { headers, body, signal: controller.signal });
    const container = (): string => containersOf(open).find((id) => !before.includes(id)) ?? '';
    await waitUntil('its call runs', () => programIn(container()) !== undefined);
    controller.abort();
    await waitUntil('its call has ended', () => programIn(container()) === undefined);
    expect(container()).not.toBe('');
    await ask(open, { method: 'DELETE', headers });
    expect(container()).toBe('');
  });

  it.each([['legacy'], [MODERN]] as const)('a call that is called off ends its program (%j)', async (mode) => {
    const { run, client } = await open.connect({ mode });
    await run('', { session_id: 'off' });
    const controller = new AbortController();
    const call = run(FOREVER, { session_id: 'off', timeout_ms: 600_000 }, controller.signal);
    setTimeout(() => controller.abort(), 1000);
    await expect(call).rejects.toThrow();
    expect((await run('console.log("next")', { session_id: 'off' })).stdout).toBe('next\n');
    await client.close();
  });

  it.each([
    ['2025-06-18', {}],
    ['2026-07-28', { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'run_code' }],
  ])(
    'the answer to a long call begins before the call has ended (%s)',
    async (version, headers: Record<string, string>) => {
      const opened = version === '2025-06-18' ? await ask(open, { body: INITIALIZE }) : undefined;
      await opened?.text();
      const session: Record<string, string> =
        opened === undefined ? {} : { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
      const meta = {
        'io.modelcontextprotocol/protocolVersion': version,
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const before = containersOf(open);
      const params = {
        name: 'run_code',
        arguments: { code: FOREVER, timeout_ms: 600_000, session_id: 'long' },
        ...(opened === undefined && { _meta: meta }),
      };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
      const response = await ask(open, { headers: { ...headers, ...session }, body });
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const program = (): number | undefined => programIn(containersOf(open).find((id) => !before.includes(id)));
      await waitUntil('the call runs', () => program() !== undefined);
      process.kill(program() ?? 0, 'SIGKILL');
      expect(await response.text()).toContain('"exit_code":137');
    },
  );

  it.each([
    ['no token', undefined],
    ['another token', 'Bearer anna-0123456789abcdeX'],
    ['a token of another kind', `Basic ${TOKENS.anna}`],
  ])('%s: nobody is let in', async (_, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const response = await ask(guarded, { headers, body: INITIALIZE });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });

  it('the session of a user does not exist for another one', async () => {
    const anna = await guarded.connect({ token: TOKENS.anna });
    await anna.run(WRITE);
    const id = anna.transport.sessionId ?? '';
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const asBen = (method: string): Promise<Response> =>
      ask(guarded, {
        method,
        headers: { 'mcp-session-id': id, authorization: `Bearer ${TOKENS.ben}` },
        ...(method === 'POST' && { body: ping }),
      });
    for (const method of ['POST', 'GET', 'DELETE']) expect((await asBen(method)).status).toBe(404);
    expect((await anna.run(LOOK)).stdout).toBe('true\n');
    await anna.transport.terminateSession();
    const [one, other] = await Promise.all(
      [TOKENS.anna, TOKENS.ben].map((token) => guarded.connect({ token, mode: MODERN })),
    );
    await one?.run(WRITE, { session_id: 'same' });
    expect((await other?.run(LOOK, { session_id: 'same' }))?.stdout).toBe('false\n');
    for (const client of [one, other]) await client?.call('reset_session', { session_id: 'same' });
  });

  it('clients that have gone without a word make room for others', async () => {
    const headers = { authorization: `Bearer ${TOKENS.anna}` };
    const open = async (): Promise<string> => {
      const response = await ask(guarded, { headers, body: INITIALIZE });
      await response.text();
      return response.headers.get('mcp-session-id') ?? '';
    };
    const first = await open();
    const others = [];
    for (let index = 0; index < 64; index += 1) others.push(await open());
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const statuses = [first, ...others.slice(-1)].map(async (id) => {
      const response = await ask(guarded, { headers: { ...headers, 'mcp-session-id': id }, body: ping });
      await response.text();
      return response.status;
    });
    expect(await Promise.all(statuses)).toEqual([404, 200]);
  });

  it('a user has only so many sessions; the refusal names them, and one that is reset makes room', async () => {
    const { run, call, transport } = await guarded.connect({ token: TOKENS.ben });
    await Promise.all([run('', { session_id: 'a' }), run('', { session_id: 'b' })]);
    const refused = await call('run_code', { code: '', session_id: 'c' });
    expect(refused).toMatchObject({ isError: true });
    expect((refused.structuredContent as { error: string }).error).toMatch(
      /^2 sessions are open.* \(a, b\), or end one with reset_session/,
    );
    await call('reset_session', { session_id: 'a' });
    expect((await run('console.log(1)', { session_id: 'c' })).stdout).toBe('1\n');
    await transport.terminateSession();
  });

  it('the limits of the configuration hold, and the tools tell the times', async () => {
    const { run, client, transport } = await guarded.connect({ token: TOKENS.anna });
    await run('');
    const [id = ''] = containersOf(guarded);
    const facts = JSON.parse(execFileSync('docker', ['inspect', id], { encoding: 'utf8' })) as [
      { HostConfig: unknown },
    ];
    expect(facts[0].HostConfig).toMatchObject({ NanoCpus: 1e9, Memory: 256 * 1024 ** 2 });
    const { tools } = await client.listTools();
    const schema = tools.find(({ name }) => name === 'run_code')?.inputSchema.properties;
    expect(schema?.['timeout_ms']).toMatchObject({ default: 9000, maximum: 20_000 });
    await transport.terminateSession();
  });

  it.each<[string, number, Asking, string?]>([
    ['a page of another site', 403, { headers: { origin: 'http://evil.example' }, body: INITIALIZE }],
    [
      'a form that a page may send without being asked',
      415,
      { headers: { 'content-type': 'text/plain' }, body: INITIALIZE },
    ],
    ['a body that is too long', 413, { body: ' '.repeat(9 * 1024 ** 2) }],
    ['no JSON', 400, { body: '{' }],
    ['null', 400, { body: 'null' }],
    ['no request', 400, { body: '{"jsonrpc":"2.0"}' }],
    ['too many messages', 400, { body: `[${Array.from({ length: 101 }, () => '1').join()}]` }],
    [
      'lists in lists',
      400,
      { body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${'['.repeat(1e6)}${']'.repeat(1e6)}}` },
    ],
    ['two clients in one request', 400, { body: `[${INITIALIZE},${INITIALIZE}]` }],
    ['a call without a session', 400, { body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' }],
    ['a session of nobody', 404, { headers: { 'mcp-session-id': 'x' }, body: INITIALIZE }],
    ['another place', 404, { body: INITIALIZE }, '/more'],
    ['another method', 405, { method: 'PUT', body: INITIALIZE }],
    ['a client that takes no events', 406, { headers: { accept: 'application/json' }, body: INITIALIZE }],
  ])('refuses %s', async (_, status, init, place) => {
    const response = await ask(open, init, place);
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ jsonrpc: '2.0', error: expect.objectContaining({ message: expect.any(String) }) }),
    ]);
  });

  it('another name of the host is refused', async () => {
    const { hostname, port } = new URL(open.address);
    const { request } = await import('node:http');
    const status = await new Promise((resolve, reject) => {
      const asked = request(
        { hostname, port, path: '/mcp', method: 'POST', headers: { host: 'evil.example' } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      asked.on('error', reject).end(INITIALIZE);
    });
    expect(status).toBe(403);
  });

  it('ends in order: calls that run are answered, and nothing is left', async () => {
    const server = await mcpOverHttp({ MAHABHARATHA_MCP_IDLE: '500ms' });
    const { run } = await server.connect();
    await run('');
    await waitUntil('an idle session is ended', () => containersOf(server).length === 0);
    const call = run(FOREVER, { timeout_ms: 600_000 });
    await waitUntil('it runs', () => containersOf(server).length === 1);
    expect(await server.end()).toBe(0);
    expect((await call).error).toContain('ended');
    expect(containersOf(server)).toEqual([]);
  });

  it('a server that is killed leaves nothing', async () => {
    const server = await mcpOverHttp();
    const { run } = await server.connect({ mode: MODERN });
    await run('');
    expect(containersOf(server)).toHaveLength(1);
    await server.end('SIGKILL');
    await waitUntil('its container is gone', () => containersOf(server).length === 0);
  });
});
