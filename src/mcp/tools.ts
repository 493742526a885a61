import { McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { asAppError } from '../lib/index.ts';
import type { CodeRan } from '../sandbox/index.ts';
import type { CallHooks, CodeRunner } from './code-runner.ts';

const MOST_CODE = 1024 ** 2;

const runInput = z.object({
  code: z.string().max(MOST_CODE).describe('The program. What it prints is the answer.'),
  language: z.enum(['typescript', 'javascript']).default('typescript'),
  timeout_ms: z.number().int().min(1).max(600_000).default(30_000).describe('The program is ended after so long.'),
  session_id: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .default('default')
    .describe('Calls with the same name share a container, its files and its packages, and run one after the other.'),
  env: z
    .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string())
    .default({})
    .describe('Variables of this call alone.'),
});

const runOutput = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.number().int().describe('124 after a time-out, 128 and more for a signal.'),
  duration_ms: z.number(),
  timed_out: z.boolean(),
  truncated: z.boolean().describe('Whether only the beginning of the output is kept.'),
  error: z.string().nullable().describe('Why the program was not run, or was ended.'),
});
type RunOutput = z.infer<typeof runOutput>;

/** A server with all tools, for one client. */
export function createToolServer(version: string, runner: CodeRunner): McpServer {
  const server = new McpServer({ name: 'mahabharatha', version });
  server.registerTool(
    'run_code',
    {
      title: 'Run code',
      description: 'Runs TypeScript or JavaScript with Bun in a locked-down container without a network.',
      inputSchema: runInput,
      outputSchema: runOutput,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    },
    async ({ code, language, timeout_ms: timeoutMs, session_id: session, env }, { mcpReq }) =>
      answer(async () =>
        asOutput(await runner.run(session, { code, language, timeoutMs, env }, hooksOf(mcpReq)), timeoutMs),
      ),
  );
  server.registerTool(
    'reset_session',
    {
      title: 'Reset a session',
      description: 'Ends the container of a session; the next call gets a new one with nothing in it.',
      inputSchema: runInput.pick({ session_id: true }),
      outputSchema: z.object({ reset: z.boolean().describe('False: there was none.') }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ session_id: session }) => {
      const reset = await runner.reset(session);
      const text = reset ? `The session ${session} begins anew.` : `There was no session ${session}.`;
      return { content: [{ type: 'text', text }], structuredContent: { reset } };
    },
  );
  return server;
}

/** Progress is told to clients that ask for it. */
const hooksOf = ({ signal }: { readonly signal: AbortSignal }): CallHooks => ({ signal, onProgress: () => undefined });

/** Code that fails is a result, and no error of the protocol. */
async function answer(work: () => Promise<RunOutput>): Promise<CallToolResult> {
  const output = await work().catch((error: unknown): RunOutput => {
    const { message, hint } = asAppError(error);
    const none = { stdout: '', stderr: '', exit_code: 1, duration_ms: 0, timed_out: false, truncated: false };
    return { ...none, error: `${message} ${hint}` };
  });
  const isError = output.exit_code !== 0 || output.error !== null;
  return { content: [{ type: 'text', text: inWords(output) }], structuredContent: output, isError };
}

function asOutput({ stdout, stderr, ...end }: CodeRan, timeoutMs: number): RunOutput {
  const timedOut = end.endedBy === 'timeout';
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: timedOut ? 124 : (end.code ?? 137),
    duration_ms: Math.round(end.durationMs),
    timed_out: timedOut,
    truncated: stdout.isCut || stderr.isCut,
    error: reasonOf(end, timeoutMs),
  };
}

function reasonOf(end: Omit<CodeRan, 'stdout' | 'stderr'>, timeoutMs: number): string | null {
  if (end.problem !== null) return `The program was not started: ${end.problem}.`;
  if (end.endedBy === 'timeout') return `The program was ended after ${timeoutMs} ms, with its container.`;
  return end.outOfMemory ? 'The program had used up its memory.' : null;
}

function inWords({ stdout, stderr, exit_code: code, truncated, error }: RunOutput): string {
  const parts = [
    stdout,
    stderr === '' ? '' : `stderr:\n${stderr}`,
    truncated ? 'Only the beginning of the output is kept.' : '',
    error ?? '',
    code === 0 ? '' : `exit code ${code}`,
  ];
  return parts.filter((part) => part !== '').join('\n') || 'The program has ended and has printed nothing.';
}
