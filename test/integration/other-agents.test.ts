import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { AGENT_FACTS, createAgent, isOlder, versionIn } from '../../src/agents/index.ts';
import type { AgentVerdict } from '../../src/agents/index.ts';
import { run } from '../../src/lib/index.ts';
import type { Usage } from '../../src/protocol/index.ts';
import { agentArguments, agentEnvironment, howToGet, MODELS } from '../support/agent-clis.ts';
import type { OtherAgent } from '../support/agent-clis.ts';
import { findCli } from '../support/claude-cli.ts';
import { GEMINI_API } from '../support/gemini-api.ts';
import { startModelServer } from '../support/model-server.ts';
import { OPENAI_RESPONSES } from '../support/openai-responses.ts';
import { startProvider } from '../support/provider-server.ts';
import type { Turn } from '../support/provider-server.ts';

const inCi = process.env['CI'] === 'true';
const PROMPT = '# Task T-1: write a greeting';
const LIMITS = { totalMs: 120_000, idleMs: 120_000 };
const TEXT = 'It is written.';
const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

interface Case {
  readonly kind: OtherAgent;
  /** The model has a file written. */
  readonly write: Extract<Turn, { call: unknown }>;
  readonly refusal: Extract<Turn, { status: number }>;
  /** What the log shows of the file. */
  readonly shown: string;
}

const CASES: readonly Case[] = [
  {
    kind: 'codex',
    write: { call: { name: 'exec_command', input: { cmd: 'echo hello > greeting.txt' } } },
    refusal: { status: 401, body: { error: { message: 'Incorrect API key provided.', code: 'invalid_api_key' } } },
    shown: "Shell /bin/bash -lc 'echo hello > greeting.txt'",
  },
  {
    kind: 'gemini',
    write: { call: { name: 'write_file', input: { file_path: 'greeting.txt', content: 'hello\n' } } },
    refusal: { status: 400, body: { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } } },
    shown: 'write_file greeting.txt',
  },
  {
    kind: 'opencode',
    write: { call: { name: 'write', input: { filePath: 'greeting.txt', content: 'hello\n' } } },
    refusal: {
      status: 401,
      body: { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    },
    shown: 'write greeting.txt',
  },
];

for (const { kind, write, refusal, shown } of CASES) {
  const program = findCli(kind);
  const why = program === undefined ? ` (${howToGet(kind)})` : '';
  describe.skipIf(program === undefined && !inCi)(`${AGENT_FACTS[kind].title} with a scripted model${why}`, () => {
    it('is of a version that is understood, does a task with its own key, and reports its usage', async () => {
      const { folder, server, end } = await work(kind, program ?? kind, [write, { text: TEXT }]);
      expect(end.log).toEqual(expect.arrayContaining([shown, TEXT]));
      expect(end).toMatchObject({
        verdict: { outcome: 'verified', feedback: '' },
        usage: { inputTokens: 200 - (kind === 'opencode' ? 0 : 60), outputTokens: 80, cacheReadTokens: 60 },
        finished: true,
        trouble: null,
      });
      expect(readFileSync(path.join(folder, 'greeting.txt'), 'utf8')).toBe('hello\n');
      expect(server.asked()).toEqual({ turns: 2, others: 0 });
      const { stdout } = await run(program ?? kind, ['--version'], { cwd: folder, env: process.env, input: '' });
      expect(isOlder(versionIn(stdout) ?? '0.0.0', AGENT_FACTS[kind].minimum)).toBe(false);
    });

    it('recognises a refused key, which is no failure of the task', async () => {
      const { end } = await work(kind, program ?? kind, () => refusal);
      expect(end.verdict).toMatchObject({
        outcome: 'credentials',
        detail: expect.stringMatching(/key/i),
        feedback: '',
      });
    });
  });
}

interface End {
  readonly verdict: AgentVerdict;
  readonly usage: Usage | null;
  readonly finished: boolean;
  readonly trouble: string | null;
  readonly log: readonly string[];
}

type Turns = readonly Turn[] | (() => Turn);

async function work(kind: OtherAgent, command: string, turns: Turns) {
  const [folder, home] = [newFolder(), newFolder()];
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  const server = await serve(kind, turns);
  const spec = { kind, command, model: MODELS[kind], args: agentArguments(kind, server.url) };
  const agent = createAgent(spec, {});
  const { file, args, input, env } = agent.command(PROMPT, { run: null, promptFile: '' });
  const around = { ...agentEnvironment(kind, home, server.url), ...env };
  const homes = Object.fromEntries(agent.home.map((name) => [name, home]));
  const ended = await run(file, args, { cwd: folder, env: { ...around, ...homes }, input, timeoutMs: 240_000 });
  const reader = agent.read(LIMITS);
  const log = [
    ...linesOf(ended.stdout).flatMap((line) => reader.stdout(line)),
    ...linesOf(ended.stderr).flatMap((line) => reader.stderr(line)),
  ];
  const end: End = { verdict: reader.verdict({ code: ended.code, endedBy: 'itself' }), ...reader.report(), log };
  return { folder, server, end };
}

const replies = (list: readonly Turn[]) =>
  list.map((turn) => (typeof turn === 'object' && 'call' in turn ? { toolUse: turn.call } : turn));

/** OpenCode speaks with Anthropic's API here, for which there is a server already. */
async function serve(kind: OtherAgent, turns: Turns) {
  if (kind !== 'opencode') {
    const server = await startProvider(kind === 'codex' ? OPENAI_RESPONSES : GEMINI_API, turns);
    cleanups.push(() => server.close());
    return { url: server.url, asked: () => ({ turns: server.requests.length, others: server.others.length }) };
  }
  const server = await startModelServer(
    typeof turns === 'function' ? () => replies([turns()])[0] ?? 'hang' : replies(turns),
  );
  cleanups.push(() => server.close());
  return { url: server.url, asked: () => ({ turns: server.requests.length, others: server.sideRequests.length }) };
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-agents-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}
