import { describe, expect, it } from 'vitest';
import { newReader, readRecorded } from '../../test/support/agent-streams.ts';
import { geminiAgent } from './gemini.ts';

it('the command of the Gemini CLI has the prompt on stdin, and trusts its folder', () => {
  const agent = geminiAgent({ kind: 'gemini', command: 'gemini', model: 'pro', args: ['--debug'] });
  expect(agent.command('Do it.', { run: null, promptFile: '/run/prompt.md' })).toEqual({
    file: 'gemini',
    args: ['--output-format', 'stream-json', '--approval-mode', 'yolo', '--model', 'pro', '--debug'],
    input: 'Do it.',
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false' },
  });
});

describe('a stream of the Gemini CLI', () => {
  it('that ends well is verified; the log shows its tools, their errors and its words', () => {
    const { log, ...rest } = readRecorded('gemini', 'success', 0);
    expect(log.slice(-5)).toEqual([
      'write_file greeting.txt',
      'read_file nowhere.txt',
      expect.stringMatching(/^Tool error: File not found/),
      'It is written.',
      'All done.',
    ]);
    expect(rest).toEqual({
      usage: { inputTokens: 210, outputTokens: 120, cacheReadTokens: 90, cacheWriteTokens: 0, costUsd: null },
      finished: true,
      trouble: null,
      verdict: { outcome: 'verified', detail: 'done', feedback: '', resetAt: null },
    });
  });

  it('is verified after a refusal that a later try has overcome', () => {
    expect(readRecorded('gemini', 'retried', 0)).toMatchObject({ trouble: null, verdict: { outcome: 'verified' } });
  });

  it.each([
    ['invalid-key', 'credentials', /API key not valid/],
    ['no-key', 'credentials', /must specify the GEMINI_API_KEY/],
    ['quota', 'usage-limit', /exhausted your daily quota/],
  ])('that ends with %s is no failure of the task: %s', (name, outcome, detail) => {
    const verdict = { outcome, detail: expect.stringMatching(detail), feedback: '', resetAt: null };
    expect(readRecorded('gemini', name, 1)).toMatchObject({ verdict });
  });

  it('says only on stderr that a request is sent again; that is reported, and a reason when a limit of ours ends it', () => {
    expect(readRecorded('gemini', 'rate-limit', null, 'total')).toMatchObject({
      finished: false,
      trouble: 'requests to the model fail (429); Gemini CLI tries again',
      verdict: { outcome: 'rate-limited' },
    });
    const { log, trouble, verdict } = readRecorded('gemini', 'unreachable', null, 'total');
    expect(trouble).toBe('the model cannot be reached; Gemini CLI tries again');
    expect(verdict.outcome).toBe('timed-out');
    expect(log.join('\n')).not.toMatch(/^\s+at /m);
  });

  it('is not judged by what stderr said before the model answered', () => {
    const reader = newReader('gemini');
    reader.stderr('Error executing tool run_shell_command: Permission denied');
    reader.stdout('{"type":"message","role":"assistant","content":"I try another way."}');
    expect(reader.verdict({ code: null, endedBy: 'total' }).outcome).toBe('timed-out');
    reader.stderr('Please set an Auth method in your settings');
    expect(reader.verdict({ code: null, endedBy: 'idle' }).outcome).toBe('credentials');
  });

  it('with error words of the model in it is judged by its end', () => {
    const reader = newReader('gemini');
    reader.stdout('{"type":"message","role":"assistant","content":"It answers 401 and quota exceeded."}');
    expect(reader.verdict({ code: 0, endedBy: 'itself' })).toMatchObject({
      outcome: 'agent-failed',
      detail: 'no result, exit status 0',
    });
  });
});
