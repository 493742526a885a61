import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../src/agents/index.ts';
import type { AgentVerdict } from '../../src/agents/index.ts';
import { startJob } from '../../src/lib/index.ts';
import type { Usage } from '../../src/protocol/index.ts';
import { claudeEnvironment, findClaude, HOW_TO_GET_CLAUDE } from '../support/claude-cli.ts';
import { scriptByTask, startModelServer } from '../support/model-server.ts';
import type { ModelServer, Script } from '../support/model-server.ts';

const claude = findClaude();
const inCi = process.env['CI'] === 'true';
const why = claude === undefined ? ` (${HOW_TO_GET_CLAUDE})` : '';

const PROMPT = '# Task T-1: write a greeting';
const LIMITS = { totalMs: 60_000, idleMs: 60_000 };
const cleanups: (() => void | Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

describe.skipIf(claude === undefined && !inCi)(`Claude Code with a scripted model${why}`, () => {
  it('does a task', async () => {
    const repo = newRepo();
    const file = path.join(repo, 'greeting.txt');
    const write = { toolUse: { name: 'Write', input: { file_path: file, content: 'hello\n' } }, text: 'I write it.' };
    const server = await serve([write, { text: 'It is written.' }]);

    const end = await runClaude({ repo, server });

    expect(end).toEqual({
      verdict: { outcome: 'verified', detail: 'done in 2 turns', feedback: '', resetAt: null },
      usage: {
        inputTokens: 200,
        outputTokens: 80,
        cacheReadTokens: 60,
        cacheWriteTokens: 40,
        costUsd: expect.any(Number),
      },
      finished: true,
      trouble: null,
      log: ['I write it.', 'Write greeting.txt', 'It is written.'],
    });
    expect(end.usage?.costUsd).toBeGreaterThan(0);
    expect(readFileSync(file, 'utf8')).toBe('hello\n');
    expect(server.requests.map(({ prompt }) => prompt)).toEqual([PROMPT, PROMPT]);
    expect(server.requests[0]?.headers['x-api-key']).toBe('made-up-key');
    expect(server.sideRequests).toEqual([]);
  });

  it('does several tasks at once, each by its own replies', async () => {
    const repo = newRepo();
    const tasks = ['T-1', 'T-2', 'T-3'];
    const write = (task: string) => ({
      toolUse: { name: 'Write', input: { file_path: path.join(repo, `${task}.txt`), content: `${task}\n` } },
    });
    const server = await serve(scriptByTask(Object.fromEntries(tasks.map((task) => [task, [write(task)]]))));

    const ends = await Promise.all(tasks.map((task) => runClaude({ repo, server, prompt: `# Task ${task}: write` })));

    expect(ends.map((end) => end.log)).toEqual(tasks.map((task) => [`Write ${task}.txt`, 'Done.']));
    expect(tasks.map((task) => readFileSync(path.join(repo, `${task}.txt`), 'utf8'))).toEqual([
      'T-1\n',
      'T-2\n',
      'T-3\n',
    ]);
  });

  it('recognises a refused key, which is no failure of the task', async () => {
    const server = await serve(() => ({
      status: 401,
      body: { error: { type: 'authentication_error', message: 'invalid x-api-key' } },
    }));
    const end = await runClaude({ repo: newRepo(), server });
    expect(end.verdict).toEqual({
      outcome: 'credentials',
      detail: expect.stringMatching(/invalid.*key/i),
      feedback: '',
      resetAt: null,
    });
  });

  it('recognises a busy server, which is no failure of the task', async () => {
    const server = await serve(() => ({ status: 429 }));
    const end = await runClaude({ repo: newRepo(), server });
    expect(end.verdict).toEqual({
      outcome: 'rate-limited',
      detail: expect.stringContaining('429'),
      feedback: '',
      resetAt: null,
    });
    expect(server.requests).toHaveLength(2);
  });

  it('recognises a used-up account, and when work may go on', async () => {
    const headers = {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': '1900000000',
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
    };
    const server = await serve(() => ({ status: 429, headers }));
    // The CLI believes these headers only when it is logged in with a subscription.
    const env = { ANTHROPIC_API_KEY: undefined, CLAUDE_CODE_OAUTH_TOKEN: 'made-up-token' };
    const end = await runClaude({ repo: newRepo(), server, env });
    expect(end.verdict).toEqual({
      outcome: 'usage-limit',
      detail: expect.stringMatching(/limit/),
      feedback: '',
      resetAt: '2030-03-17T17:46:40.000Z',
    });
  });

  it('is refused by the CLI as root outside a sandbox', async (context) => {
    context.skip(process.getuid?.() !== 0, 'only root is refused');
    const end = await runClaude({ repo: newRepo(), server: await serve([]), env: { IS_SANDBOX: undefined } });
    expect(end.verdict).toMatchObject({
      outcome: 'agent-failed',
      detail: expect.stringMatching(/^no result, exit status 1: .*root/),
    });
  });
});

interface Run {
  readonly repo: string;
  readonly server: ModelServer;
  readonly prompt?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

interface Ended {
  readonly verdict: AgentVerdict;
  readonly usage: Usage | null;
  readonly finished: boolean;
  readonly log: readonly string[];
}

/** Starts the agent's command as a worker does, and reads its output to the end. */
async function runClaude({ repo, server, prompt = PROMPT, env = {} }: Run): Promise<Ended> {
  if (claude === undefined) throw new Error(HOW_TO_GET_CLAUDE);
  const agent = createAgent({ kind: 'claude', command: claude, model: null, args: [] }, {});
  const command = agent.command(prompt, { run: null, promptFile: '' });
  expect(command.input).toBe(prompt);
  expect(command.args.join(' ')).not.toContain(prompt);

  const stdout: string[] = [];
  const stderr: string[] = [];
  const job = startJob(command.file, command.args, {
    cwd: repo,
    env: { ...claudeEnvironment(newFolder(), server.url), ...command.env, ...env },
    input: command.input,
    onStdout: (text) => stdout.push(text),
    onStderr: (text) => stderr.push(text),
  });
  cleanups.unshift(() => job.stop(0));
  const { code } = await job.done;

  const reader = agent.read(LIMITS);
  const log = lines(stdout).flatMap((line) => reader.stdout(line));
  log.push(...lines(stderr).flatMap((line) => reader.stderr(line)));
  return { verdict: reader.verdict({ code, endedBy: 'itself' }), ...reader.report(), log };
}

async function serve(script: Script): Promise<ModelServer> {
  const server = await startModelServer(script);
  cleanups.push(() => server.close());
  return server;
}

function newRepo(): string {
  const repo = newFolder();
  execFileSync('git', ['init', '--quiet'], { cwd: repo });
  return repo;
}

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mahabharatha-claude-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

function lines(chunks: readonly string[]): readonly string[] {
  return chunks
    .join('')
    .split('\n')
    .filter((line) => line !== '');
}
