import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));

export interface CodeAnswer {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit_code: number;
  readonly timed_out: boolean;
  readonly truncated: boolean;
  readonly packages_installed: readonly { readonly name: string; readonly version: string }[];
  readonly error: string | null;
}

export interface McpClient {
  readonly client: Client;
  readonly pid: number;
  /** Its state folder: no other server knows it. */
  readonly home: string;
  run(code: string, more?: Record<string, unknown>, signal?: AbortSignal): Promise<CodeAnswer>;
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<CallToolResult>;
  /** The client leaves; the server ends by itself. */
  leave(): Promise<void>;
}

/** The real program, spoken to by the SDK's own client. */
export async function mcpForTest(env: Record<string, string> = {}): Promise<McpClient> {
  const home = mkdtempSync(path.join(tmpdir(), 'mahabharatha-mcp-'));
  const known = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp'],
    cwd: home,
    env: { ...(known as Record<string, string>), EXECUTION_MODE: 'container', XDG_STATE_HOME: home, ...env },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const call: McpClient['call'] = async (name, args, signal) =>
    client.callTool({ name, arguments: args }, { timeout: 120_000, ...(signal && { signal }) });
  return {
    client,
    pid: transport.pid ?? 0,
    home,
    call,
    run: async (code, more = {}, signal) =>
      (await call('run_code', { code, ...more }, signal)).structuredContent as CodeAnswer,
    leave: async () => {
      await client.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
