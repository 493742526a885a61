import { describe, expect, it } from 'vitest';
import { newReader, readRecorded } from '../../test/support/agent-streams.ts';
import { opencodeAgent } from './opencode.ts';

it('the command of OpenCode has the prompt on stdin, and asks no model for a title', () => {
  const agent = opencodeAgent({
    kind: 'opencode',
    command: 'opencode',
    model: 'openai/gpt',
    args: ['--variant', 'high'],
  });
  expect(agent.command('Do it.', { run: null, promptFile: '/run/prompt.md' })).toMatchObject({
    file: 'opencode',
    args: [
      'run',
      '--format',
      'json',
      '--auto',
      '--title',
      'task',
      '--print-logs',
      '--log-level',
      'ERROR',
      '--model',
      'openai/gpt',
      '--variant',
      'high',
    ],
    input: 'Do it.',
    env: { OPENCODE_DISABLE_AUTOUPDATE: 'true', OPENCODE_DISABLE_SHARE: 'true' },
  });
});

describe('a stream of OpenCode', () => {
  it('that ends well is verified; the log shows its tools, their errors and its words', () => {
    expect(readRecorded('opencode', 'success', 0)).toEqual({
      log: [
        'I write it.',
        'write greeting.txt',
        'read /nowhere.txt',
        expect.stringMatching(/^Tool error: .*nowhere/),
        'It is written.',
        'All done.',
      ],
      usage: { inputTokens: 300, outputTokens: 120, cacheReadTokens: 90, cacheWriteTokens: 60, costUsd: 0.002952 },
      finished: true,
      trouble: null,
      verdict: { outcome: 'verified', detail: 'done', feedback: '', resetAt: null },
    });
  });

  it('is verified after a refusal that a later try has overcome', () => {
    expect(readRecorded('opencode', 'retried', 0)).toMatchObject({ trouble: null, verdict: { outcome: 'verified' } });
  });

  it.each([
    ['invalid-key', 'credentials', /invalid x-api-key/],
    ['no-key', 'credentials', /API key is missing/],
    ['quota', 'credentials', /credit balance is too low/],
  ])('that ends with %s is no failure of the task: %s', (name, outcome, detail) => {
    const verdict = { outcome, detail: expect.stringMatching(detail), feedback: '', resetAt: null };
    expect(readRecorded('opencode', name, 1)).toMatchObject({ finished: true, verdict });
  });

  it('says only in its log that a request is sent again; that is reported, and a reason when a limit of ours ends it', () => {
    expect(readRecorded('opencode', 'rate-limit', null, 'total')).toMatchObject({
      usage: null,
      finished: false,
      trouble: 'requests to the model fail; OpenCode tries again',
      verdict: { outcome: 'rate-limited', detail: 'This request would exceed your rate limit.' },
    });
    expect(readRecorded('opencode', 'unreachable', null, 'total')).toMatchObject({
      trouble: 'the model cannot be reached; OpenCode tries again',
      verdict: { outcome: 'timed-out' },
    });
  });

  it('that the model has ended for another reason than its being done is a failure', () => {
    const reader = newReader('opencode');
    const tokens = { input: 1, output: 1, reasoning: 0, cache: { read: 0, write: 0 } };
    reader.stdout(JSON.stringify({ type: 'step_finish', part: { reason: 'length', cost: 0, tokens } }));
    expect(reader.verdict({ code: 0, endedBy: 'itself' })).toMatchObject({
      outcome: 'agent-failed',
      detail: 'the model has ended its answer: length',
    });
  });
});
