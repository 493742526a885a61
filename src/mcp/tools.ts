import { McpServer } from '@modelcontextprotocol/server';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { constants } from 'node:os';
import { z } from 'zod';
import type { CodeRan } from '../code/index.ts';
import type { McpSettings } from '../config/index.ts';
import { hooksOf, reasonOfError, sessionId } from './calls.ts';
import type { CodeRunner } from './code-runner.ts';
import { addPackageTools, packageList } from './package-tools.ts';

const MOST_CODE = 1024 ** 2;
/** More than that fits into no frame, and into no process. */
const MOST_ENV = 512 * 1024;

type Times = Pick<McpSettings, 'timeout' | 'longest_timeout'>;

const runInput = ({ timeout, longest_timeout: longest }: Times) =>
  z.object({
    code: z.string().max(MOST_CODE).describe('The program. What it prints is the answer.'),
    language: z.enum(['typescript', 'javascript']).default('typescript'),
    timeout_ms: z
      .number()
      .int()
      .min(1)
      .max(Math.max(timeout, longest))
      .default(timeout)
      .describe('The program is ended after so long.'),
    session_id: sessionId,
    env: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/), z.string().regex(/^[^\0]*$/, 'a value has no NUL'))
      .refine((env) => JSON.stringify(env).length <= MOST_ENV, `all together more than ${MOST_ENV} characters`)
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
  packages_installed: packageList.describe('Which this call has brought into the session.'),
  error: z.string().nullable().describe('Why the program was not run, or was ended.'),
});
type RunOutput = z.infer<typeof runOutput>;

interface ToolRequest {
  readonly version: string;
  readonly settings: Times;
  readonly runner: CodeRunner;
}

const signals: Readonly<Record<string, number>> = constants.signals;

/** What the modes of execution do differently. */
const IN_WORDS = {
  container: {
    run: 'Runs TypeScript or JavaScript with Bun in a locked-down container without a network. Packages of npm that the code imports are installed first.',
    reset: 'Ends the container of a session; the next call gets a new one with nothing in it.',
    ended: ', with its container',
  },
  preload: {
    run: 'Runs TypeScript or JavaScript with Node in a process of this machine whose doors are closed (preload mode): no files, no network, no other processes, no packages of npm. Modules of Node that only compute can be imported. Nothing is kept from one call to the next.',
    reset: 'Preload mode has no sessions: each call has a process of its own, with nothing of those before it.',
    ended: '',
  },
} as const;

/** A server with all tools, for one client. */
export function createToolServer({ version, settings, runner }: ToolRequest): McpServer {
  const server = new McpServer({ name: 'mahabharatha', version });
  const words = IN_WORDS[runner.mode];
  const isOpen = runner.packages !== null;
  server.registerTool(
    'run_code',
    {
      title: 'Run code',
      description: words.run,
      inputSchema: runInput(settings),
      outputSchema: runOutput,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: isOpen },
    },
    async ({ code, language, timeout_ms: timeoutMs, session_id: session, env }, { mcpReq }) =>
      answer(async () =>
        asOutput(
          await runner.run(session, { code, language, timeoutMs, env }, hooksOf(mcpReq)),
          timeoutMs,
          words.ended,
        ),
      ),
  );
  server.registerTool(
    'reset_session',
    {
      title: 'Reset a session',
      description: words.reset,
      inputSchema: z.object({ session_id: sessionId }),
      outputSchema: z.object({ reset: z.boolean().describe('False: there was none.') }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    },
    async ({ session_id: session }) => {
      const reset = await runner.reset(session);
      const text = reset ? `The session ${session} begins anew.` : `There was no session ${session}.`;
      return { content: [{ type: 'text', text }], structuredContent: { reset } };
    },
  );
  if (runner.packages !== null) addPackageTools(server, runner.packages);
  return server;
}

/** Code that fails is a result, and no error of the protocol. */
async function answer(work: () => Promise<RunOutput>): Promise<CallToolResult> {
  const output = await work().catch((error: unknown): RunOutput => {
    const none = { stdout: '', stderr: '', exit_code: 1, duration_ms: 0, timed_out: false, truncated: false };
    return { ...none, packages_installed: [], error: reasonOfError(error) };
  });
  const isError = output.exit_code !== 0 || output.error !== null;
  return { content: [{ type: 'text', text: inWords(output) }], structuredContent: output, isError };
}

function asOutput({ stdout, stderr, packages, ...end }: CodeRan, timeoutMs: number, ended: string): RunOutput {
  const timedOut = end.endedBy === 'timeout';
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: timedOut ? 124 : (end.code ?? 128 + (signals[end.signal ?? ''] ?? 9)),
    duration_ms: Math.round(end.durationMs),
    timed_out: timedOut,
    truncated: stdout.isCut || stderr.isCut,
    packages_installed: [...packages],
    error: reasonOf(end, timeoutMs, ended),
  };
}

type End = Pick<CodeRan, 'problem' | 'endedBy' | 'outOfMemory'>;

function reasonOf(end: End, timeoutMs: number, ended: string): string | null {
  if (end.problem !== null) return `The program was not started: ${end.problem}.`;
  if (end.endedBy === 'timeout') return `The program was ended after ${timeoutMs} ms${ended}.`;
  return end.outOfMemory ? 'The program had used up its memory.' : null;
}

function inWords({
  stdout,
  stderr,
  exit_code: code,
  truncated,
  packages_installed: packages,
  error,
}: RunOutput): string {
  const parts = [
    packages.length === 0 ? '' : `installed: ${packages.map(({ name, version }) => `${name}@${version}`).join(', ')}`,
    stdout,
    stderr === '' ? '' : `stderr:\n${stderr}`,
    truncated ? 'Only the beginning of the output is kept.' : '',
    error ?? '',
    code === 0 ? '' : `exit code ${code}`,
  ];
  return parts.filter((part) => part !== '').join('\n') || 'The program has ended and has printed nothing.';
}
