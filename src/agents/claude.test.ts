import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { TROUBLE_LIMIT } from '../protocol/index.ts';
import type { Prices } from '../protocol/index.ts';
import type { AgentEnd, AgentReader } from './agent.ts';
import { claudeAgent } from './claude.ts';

const LIMITS = { totalMs: 1_800_000, idleMs: 600_000 };
const STREAMS = path.join(import.meta.dirname, '../../test/testdata/claude-streams');

function linesOf(stream: string): readonly string[] {
  return readFileSync(path.join(STREAMS, `${stream}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
}

function newReader(prices: Prices = {}): AgentReader {
  return claudeAgent({ kind: 'claude', command: 'claude', model: null, args: [] }, prices).read(LIMITS);
}

/** Reads a whole stream; returns the lines of the log, the usage and the verdict. */
function read(stream: string, end: AgentEnd): object {
  const reader = newReader();
  const log = linesOf(stream).flatMap((line) => reader.stdout(line));
  return { log, ...reader.report(), verdict: reader.verdict(end) };
}

const exit = (code: number | null): AgentEnd => ({ code, endedBy: 'itself' });
const NOTHING_USED = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, costUsd: 0 };

describe('the command of Claude Code', () => {
  it('has the prompt on stdin, never in the arguments', () => {
    const agent = claudeAgent(
      { kind: 'claude', command: '/opt/claude', model: 'sonnet', args: ['--max-turns', '50'] },
      {},
    );
    expect(agent.command('Do it.', { run: null, promptFile: '/run/prompt.md' })).toEqual({
      file: '/opt/claude',
      args: [
        '--print',
        '--disallowedTools',
        'AskUserQuestion,EnterPlanMode,ExitPlanMode,EnterWorktree,ExitWorktree,CronCreate,CronDelete,CronList,ScheduleWakeup',
        '--dangerously-skip-permissions',
        '--verbose',
        '--output-format',
        'stream-json',
        '--include-partial-messages',
        '--model',
        'sonnet',
        '--max-turns',
        '50',
      ],
      input: 'Do it.',
      env: { DISABLE_UPDATES: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    });
  });
});

describe('a stream that ends well', () => {
  it('is verified, and the log shows its words, tools and tool errors', () => {
    expect(read('success', exit(0))).toEqual({
      log: [
        'I write src/a.ts.',
        'Then I go on.',
        'Write src/a.ts',
        'Edit src/b.ts',
        'Tool error: File does not exist. Note: your current working directory is /workspace.',
        'Bash cat src/a.ts echo done',
        'Both files are there.',
      ],
      usage: { inputTokens: 400, outputTokens: 160, cacheReadTokens: 120, cacheWriteTokens: 80, costUsd: 0.00656 },
      finished: true,
      trouble: null,
      verdict: { outcome: 'verified', detail: 'done in 4 turns', feedback: '', resetAt: null },
    });
  });

  it('is verified after a refusal that a later try has overcome', () => {
    expect(read('retried', exit(0))).toEqual({
      log: [
        'API error 429 rate_limit: retry 1 of 1 in 0.5 s',
        'I write src/a.ts.',
        'Then I go on.',
        'Write src/a.ts',
        'Done.',
      ],
      usage: { inputTokens: 200, outputTokens: 80, cacheReadTokens: 60, cacheWriteTokens: 40, costUsd: 0.00328 },
      finished: true,
      trouble: null,
      verdict: { outcome: 'verified', detail: 'done in 2 turns', feedback: '', resetAt: null },
    });
  });

  it.each(['completion', 'total', 'idle'] as const)(
    'is verified when we had to end what hung after the result: %s',
    (endedBy) => {
      expect(read('success', { code: null, endedBy })).toMatchObject({ verdict: { outcome: 'verified' } });
    },
  );

  it('is a failure when the process has failed after it', () => {
    expect(read('retried', exit(3))).toMatchObject({
      verdict: {
        outcome: 'agent-failed',
        detail: 'a result that says success, but exit status 3',
        resetAt: null,
      },
    });
  });
});

/** What a stream tells of the cost, and what the log shows. */
function usageOf(stream: string, prices: Prices = {}, change = (text: string): string => text) {
  const reader = newReader(prices);
  const log = linesOf(stream).flatMap((line) => reader.stdout(change(line)));
  return { log, usage: reader.report().usage };
}

describe('what an attempt costs', () => {
  it('is estimated as the stream goes, from whole answers, and is what the result of such a session tells', () => {
    const told = { inputTokens: 200, outputTokens: 80, cacheReadTokens: 60, cacheWriteTokens: 40, costUsd: 0.00328 };
    expect(usageOf('parts').usage).toEqual(told);
    expect(usageOf('retried').usage).toEqual(told);
  });

  it('grows with each answer', () => {
    const reader = newReader();
    const costs = linesOf('parts').map((line) => {
      reader.stdout(line);
      return reader.report().usage?.costUsd ?? 0;
    });
    expect([...new Set(costs)]).toEqual([0, 0.000665, 0.00164, 0.002305, 0.00328]);
  });

  it('is dearer for what is kept for an hour', () => {
    const kept = '"cache_creation_input_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":20}';
    const forAnHour = (line: string): string => line.replaceAll('"cache_creation_input_tokens":20', kept);
    expect(usageOf('parts', {}, forAnHour).usage?.costUsd).toBe(0.00343);
  });

  it('is by the user’s own prices where there are some, also at the end', () => {
    const own = { 'opus-4-8': { input: 1, output: 2, cacheRead: 0, cacheWrite: 3 } };
    expect(usageOf('parts', own).usage?.costUsd).toBe(0.00048);
    expect(usageOf('retried', own).usage?.costUsd).toBe(0.00048);
  });

  it('is by the highest price for a model without a known one, and the log says so once', () => {
    const { log, usage } = usageOf('parts', {}, (line) => line.replaceAll('claude-opus-4-8', 'tomorrow'));
    expect(usage?.costUsd).toBe(0.00984);
    expect(log.filter((line) => line.startsWith('No price is known for tomorrow: '))).toHaveLength(1);
  });
});

describe('a stream that ends for a reason that is not the task’s fault', () => {
  it.each([
    ['invalid-key', 'credentials', 'Invalid API key · Fix external API key', null],
    ['not-logged-in', 'credentials', 'Not logged in · Please run /login', null],
    ['credit-too-low', 'credentials', 'Credit balance is too low', null],
    [
      'rate-limit',
      'rate-limited',
      "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.",
      null,
    ],
    [
      'overloaded',
      'rate-limited',
      'API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (localhost:8080).',
      null,
    ],
    [
      'usage-limit',
      'usage-limit',
      "You've hit your session limit · resets Mar 17, 2030, 5:46pm (UTC)",
      '2030-03-17T17:46:40.000Z',
    ],
    ['usage-limit-old-text', 'usage-limit', 'Claude AI usage limit reached|1900000000', '2030-03-17T17:46:40.000Z'],
    [
      'api-spend-limit',
      'usage-limit',
      'API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
      '2026-12-01T00:00:00.000Z',
    ],
  ])('%s is %s', (stream, outcome, detail, resetAt) => {
    expect(read(stream, exit(1))).toMatchObject({
      usage: NOTHING_USED,
      finished: true,
      verdict: { outcome, detail, feedback: '', resetAt },
    });
  });

  it('is recognised by its retries when one of our limits has ended it', () => {
    const reader = newReader();
    linesOf('rate-limit')
      .slice(0, 2)
      .forEach((line) => reader.stdout(line));
    expect(reader.verdict({ code: null, endedBy: 'total' })).toEqual({
      outcome: 'rate-limited',
      detail: 'API error 429 rate_limit: retry 1 of 1 in 0.5 s',
      feedback: '',
      resetAt: null,
    });
  });

  it('is not seen in plain text that came before an answer', () => {
    const reader = newReader();
    reader.stderr('(node:529) Warning: Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable');
    reader.stdout('{"type":"assistant","message":{"content":[{"type":"text","text":"I begin."}]}}');
    expect(reader.verdict({ code: null, endedBy: 'total' }).outcome).toBe('timed-out');
  });

  it('is recognised by plain text when there are no events', () => {
    const reader = newReader();
    expect(reader.stdout('Invalid API key · Please run /login')).toEqual(['Invalid API key · Please run /login']);
    expect(reader.verdict(exit(1))).toEqual({
      outcome: 'credentials',
      detail: 'Invalid API key · Please run /login',
      feedback: '',
      resetAt: null,
    });
  });

  it('is not a used-up account while the account pays for more', () => {
    const reader = newReader();
    const info = { status: 'rejected', resetsAt: 1_900_000_000, isUsingOverage: true };
    reader.stdout(JSON.stringify({ type: 'rate_limit_event', rate_limit_info: info }));
    linesOf('rate-limit').forEach((line) => reader.stdout(line));
    expect(reader.verdict(exit(1))).toMatchObject({ outcome: 'rate-limited', resetAt: null });
  });
});

describe('a stream of an agent that failed', () => {
  it('names the limit of turns and shows what was done', () => {
    expect(read('max-turns', exit(1))).toEqual({
      log: ['Bash true', 'Bash true', 'Error: error_max_turns: Reached maximum number of turns (2)'],
      usage: { inputTokens: 200, outputTokens: 80, cacheReadTokens: 60, cacheWriteTokens: 40, costUsd: 0.00328 },
      finished: true,
      trouble: null,
      verdict: {
        outcome: 'agent-failed',
        detail: 'error_max_turns: Reached maximum number of turns (2)',
        feedback: `error_max_turns: Reached maximum number of turns (2)
Its last output:
Bash true
Bash true
Error: error_max_turns: Reached maximum number of turns (2)`,
        resetAt: null,
      },
    });
  });

  it('is a failure after an API error that is no limit', () => {
    expect(read('server-error', exit(1))).toMatchObject({
      verdict: { outcome: 'agent-failed', detail: expect.stringMatching(/^API Error: 500 Internal server error\./) },
    });
  });

  it('is a failure when the model was never reached', () => {
    expect(read('unreachable', exit(1))).toMatchObject({
      verdict: { outcome: 'agent-failed', detail: 'API Error: Unable to connect to API (ConnectionRefused)' },
    });
  });

  it('is a failure without any output, even with exit status 0', () => {
    expect(newReader().verdict(exit(0))).toEqual({
      outcome: 'agent-failed',
      detail: 'no result, exit status 0',
      feedback: 'no result, exit status 0\nIt printed nothing.',
      resetAt: null,
    });
  });

  it('shows what was on stderr', () => {
    const reader = newReader();
    const refusal = '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons';
    expect([...reader.stderr(refusal), ...reader.stderr('')]).toEqual([refusal]);
    expect(reader.verdict(exit(1))).toEqual({
      outcome: 'agent-failed',
      detail: `no result, exit status 1: ${refusal}`,
      feedback: `no result, exit status 1: ${refusal}\nIts last output:\n${refusal}`,
      resetAt: null,
    });
  });
});

describe('a stream without an end', () => {
  const LOG = [
    'a line that is not JSON',
    'Read src/a.ts',
    'The handler answers 401 and 429, as it should: usage limit reached.',
  ];

  it('counts each message once, ignores unknown events, and does not take the model’s words for an error', () => {
    expect(read('unfinished', { code: null, endedBy: 'idle' })).toEqual({
      log: LOG,
      usage: { inputTokens: 107, outputTokens: 4, cacheReadTokens: 30, cacheWriteTokens: 20, costUsd: 0.000775 },
      finished: false,
      trouble: null,
      verdict: {
        outcome: 'idle',
        detail: 'no output for 600 s, limit 600 s',
        feedback: `no output for 600 s, limit 600 s\nIts last output:\n${LOG.join('\n')}`,
        resetAt: null,
      },
    });
  });

  it('names the total limit', () => {
    expect(read('unfinished', { code: 143, endedBy: 'total' })).toMatchObject({
      verdict: { outcome: 'timed-out', detail: 'still at work after 1800 s, limit 1800 s' },
    });
  });

  it('has no usage before the first message', () => {
    const reader = newReader();
    linesOf('success')
      .slice(0, 1)
      .forEach((line) => reader.stdout(line));
    expect(reader.report()).toEqual({ usage: null, finished: false, trouble: null });
  });
});

/** The trouble after each line; the same one in a row only once. */
function troublesOf(lines: readonly string[]): unknown[] {
  const reader = newReader();
  const troubles = lines.map((line) => {
    reader.stdout(line);
    return reader.report().trouble;
  });
  return troubles.filter((trouble, index) => trouble !== troubles[index - 1]);
}

describe('trouble with the model', () => {
  it('is reported from the first try on, in the same words for all tries, and stays when the agent gives up', () => {
    expect(troublesOf(linesOf('unreachable'))).toEqual([null, 'the model cannot be reached; Claude Code tries again']);
  });

  it('ends when the model answers', () => {
    expect(troublesOf(linesOf('retried'))).toEqual([
      null,
      'requests to the model fail (429 rate_limit); Claude Code tries again',
      null,
    ]);
  });

  it.each([
    [null, 'timeout', 'the model cannot be reached (timeout); Claude Code tries again'],
    [502, 'server_error', 'the model cannot be reached (502 server_error); Claude Code tries again'],
    [529, 'overloaded', 'requests to the model fail (529 overloaded); Claude Code tries again'],
  ])('with status %s and %s says whether the model has answered', (error_status, error, words) => {
    const retry = { type: 'system', subtype: 'api_retry', error_status, error };
    expect(troublesOf([JSON.stringify(retry)])).toEqual([words]);
  });

  it('has no end when a key is refused a second time; after the first refusal the CLI may renew a login', () => {
    const reader = newReader();
    const refusals = [1, 2].map((attempt) => {
      const refusal = {
        type: 'system',
        subtype: 'api_retry',
        attempt,
        error_status: 401,
        error: 'authentication_failed',
      };
      reader.stdout(JSON.stringify(refusal));
      return reader.report().refused;
    });
    expect(refusals).toEqual([undefined, true]);
    expect(reader.verdict({ code: null, endedBy: 'completion' })).toMatchObject({
      outcome: 'credentials',
      detail: expect.stringContaining('API error 401 authentication_failed') as string,
    });
  });

  it('is one short line, whatever the name of the error', () => {
    const error = `a\nb ${'x'.repeat(5000)}`;
    const [, trouble] = troublesOf(['{}', JSON.stringify({ type: 'system', subtype: 'api_retry', attempt: 1, error })]);
    expect(trouble).toMatch(/^the model cannot be reached \(a b x+…\); Claude Code tries again$/);
    expect(String(trouble).length).toBeLessThanOrEqual(TROUBLE_LIMIT);
  });
});
