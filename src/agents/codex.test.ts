import { describe, expect, it } from 'vitest';
import { newReader, readRecorded } from '../../test/support/agent-streams.ts';
import { codexAgent } from './codex.ts';

it('the command of Codex has the prompt on stdin, never in the arguments', () => {
  const agent = codexAgent({ kind: 'codex', command: '/opt/codex', model: 'gpt', args: ['--search'] });
  expect(agent.command('Do it.', { run: null, promptFile: '/run/prompt.md' })).toEqual({
    file: '/opt/codex',
    args: [
      'exec',
      '--json',
      '--skip-git-repo-check',
      '--dangerously-bypass-approvals-and-sandbox',
      '-c',
      'check_for_update_on_startup=false',
      '-c',
      'analytics.enabled=false',
      '--model',
      'gpt',
      '--search',
      '-',
    ],
    input: 'Do it.',
    env: {},
  });
});

describe('a stream of Codex', () => {
  it('that ends well is verified; the log shows its commands, their failures and its words', () => {
    expect(readRecorded('codex', 'success', 0)).toEqual({
      log: [
        expect.stringContaining('WebSocket'),
        "Shell /bin/bash -lc 'echo hello > greeting.txt'",
        "Shell /bin/bash -lc 'cat nowhere.txt'",
        'Shell error: exit status 1: cat: nowhere.txt: No such file or directory',
        'It is written.',
        'All done.',
      ],
      usage: { inputTokens: 210, outputTokens: 120, cacheReadTokens: 90, cacheWriteTokens: 0, costUsd: null },
      finished: true,
      trouble: null,
      verdict: { outcome: 'verified', detail: 'done', feedback: '', resetAt: null },
    });
  });

  it('is verified after a refusal that a later try has overcome, and when we had to end what hung after it', () => {
    expect(readRecorded('codex', 'retried', 0)).toMatchObject({ trouble: null, verdict: { outcome: 'verified' } });
    expect(readRecorded('codex', 'success', null, 'total')).toMatchObject({ verdict: { outcome: 'verified' } });
  });

  it.each([
    ['invalid-key', 'credentials', /^unexpected status 401 Unauthorized: Incorrect API key provided/],
    ['rate-limit', 'rate-limited', /^exceeded retry limit, last status: 429/],
    ['quota', 'usage-limit', /^Quota exceeded/],
    ['server-error', 'rate-limited', /high demand/],
  ])('that ends with %s is no failure of the task: %s', (name, outcome, detail) => {
    expect(readRecorded('codex', name, 1)).toMatchObject({
      usage: null,
      finished: true,
      verdict: { outcome, detail: expect.stringMatching(detail), feedback: '', resetAt: null },
    });
  });

  it('that ends at the limit of an account says when work may go on', () => {
    const { verdict } = readRecorded('codex', 'usage-limit', 1);
    expect(verdict).toMatchObject({ outcome: 'usage-limit', detail: expect.stringContaining('hit your usage limit') });
    // In the time of the machine that Codex runs on.
    expect(verdict.resetAt).toBe(new Date(2030, 2, 17, 17, 46).toISOString());
  });

  it('without an answer reports its trouble in the same words for each try, and is a failure at our limit', () => {
    expect(readRecorded('codex', 'unreachable', null, 'total')).toMatchObject({
      finished: false,
      trouble: 'the model cannot be reached; Codex tries again',
      verdict: { outcome: 'timed-out' },
    });
    const reader = newReader('codex');
    reader.stdout('{"type":"error","message":"Reconnecting... 1/5 (unexpected status 500: no)"}');
    expect(reader.report().trouble).toBe('requests to the model fail (500); Codex tries again');
    reader.stdout('{"type":"item.completed","item":{"type":"agent_message","text":"401 Unauthorized"}}');
    expect(reader.report().trouble).toBeNull();
    expect(reader.verdict({ code: 1, endedBy: 'itself' })).toMatchObject({ outcome: 'agent-failed' });
  });
});
