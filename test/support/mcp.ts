import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { CallToolResult, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { waitUntil } from './wait-until.ts';

export const MCP_PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));
/** A call may wait for an image. */
const CALL_MS = 600_000;

export interface CodeAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly packages_installed: readonly { readonly name: string; readonly version: string }[];
  readonly error: string | null;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (message: string) => void;
}

interface Calls {
  run(code: string, more?: Record<string, unknown>, signal?: AbortSignal): Promise<CodeAnswer>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
}

export interface McpClient extends Calls {
  readonly client: Client;
  readonly pid: number;
  /** Its state folder: no other server knows it. */
  readonly home: string;
  /** What the server has told on stderr. */
  notes(): string;
  /** The client leaves; the server ends by itself. */
  leave(): Promise<void>;
}

const newHome = (): string => mkdtempSync(path.join(tmpdir(), 'mahabharatha-mcp-'));

function environment(home: string, env: Readonly<Record<string, string>>): Record<string, string> {
  const known = Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  const own = { EXECUTION_MODE: 'container', XDG_STATE_HOME: home, MAHABHARATHA_MCP_SESSIONS: '100' };
  return { ...Object.fromEntries(known), ...own, ...env };
}

/** The containers of a server, by its state folder. */
export function containersOf({ home }: { readonly home: string }): string[] {
  const label = `label=mahabharatha.mcp=${home}/mahabharatha/mcp`;
  const ids = execFileSync('docker', ['ps', '-aq', '--no-trunc', '--filter', label], { encoding: 'utf8' });
  return ids.split('\n').filter((id) => id !== '');
}

function callsOf(client: Client): Calls {
  const call: Calls['call'] = async (name, args, { signal, onProgress } = {}) => {
    const onprogress = onProgress && (({ message = '' }: { message?: string | undefined }) => onProgress(message));
    return client.callTool(
      { name, arguments: args },
      { timeout: CALL_MS, ...(signal && { signal }), ...(onprogress && { onprogress }) },
    );
  };
  const run: Calls['run'] = async (code, more = {}, signal) =>
    (await call('run_code', { code, ...more }, signal && { signal })).structuredContent as CodeAnswer;
  return { call, run };
}

/** The real program, spoken to by the SDK's own client. */
export async function mcpForTest(env: Record<string, string> = {}, args: readonly string[] = []): Promise<McpClient> {
  const home = newHome();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [MCP_PROGRAM, 'mcp', ...args],
    cwd: home,
    env: environment(home, env),
    stderr: 'pipe',
  });
  let notes = '';
  transport.stderr?.on('data', (chunk: Buffer) => (notes += chunk.toString()));
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return {
    ...callsOf(client),
    client,
    pid: transport.pid ?? 0,
    home,
    notes: () => notes,
    leave: async () => {
      await untilEnded(transport);
      await client.close();
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The SDK itself waits for two seconds, and then ends the server with signals: it could leave its containers behind. */
async function untilEnded(transport: StdioClientTransport): Promise<void> {
  const { _process: server } = transport as unknown as { readonly _process?: ChildProcess };
  if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
  const end = once(server, 'close');
  server.stdin?.end();
  await end;
}

export interface McpServer {
  readonly pid: number;
  /** With its path. */
  readonly address: string;
  readonly home: string;
  notes(): string;
  connect(options?: ConnectOptions): Promise<HttpClient>;
  /** Resolves with the exit status. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

interface ConnectOptions {
  readonly token?: string;
  readonly mode?: VersionNegotiationMode;
}

export interface HttpClient extends Calls {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

/** The real program as an HTTP server, on any free port. */
export async function mcpOverHttp(env: Record<string, string> = {}, args: readonly string[] = []): Promise<McpServer> {
  const home = newHome();
  const whole = [MCP_PROGRAM, 'mcp', '--http', '--port', '0', '--json', ...args];
  const child = spawn(process.execPath, whole, { env: environment(home, env), cwd: home });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const addressOf = (): string | undefined => /"type":"serving","address":"([^"]+)"/.exec(text)?.[1];
  await waitUntil('the server', () => addressOf() !== undefined || (child.exitCode ?? child.signalCode) !== null);
  const address = addressOf();
  if (address === undefined) throw new Error(`the server has not started: ${text}`);
  return {
    pid: child.pid ?? 0,
    address,
    home,
    notes: () => text,
    connect: async ({ token, mode = 'legacy' } = {}) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const transport = new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers } });
      const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
      await client.connect(transport);
      return { ...callsOf(client), client, transport };
    },
    end: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const exit = await ended;
      if (signal === 'SIGTERM') rmSync(home, { recursive: true, force: true, maxRetries: 5 });
      return exit;
    },
  };
}
