import { describe, expect, it } from 'vitest';
import { createAgent } from './index.ts';

const shell = createAgent({ kind: 'shell' }, {});
const LIMITS = { totalMs: 90_000, idleMs: 1500 };

describe('the shell agent', () => {
  it("runs the task's own command", () => {
    expect(shell.command('unused', { run: 'echo a > a.txt', promptFile: '/run/prompt.md' })).toEqual({
      file: 'bash',
      args: ['-c', 'echo a > a.txt'],
      input: '',
      env: {},
    });
  });

  it('refuses a task without a command', () => {
    expect(() => shell.command('unused', { run: null, promptFile: '' })).toThrow(
      'The shell agent was given a task without a "run" command.',
    );
  });

  it('shows all output, and reports no usage and no trouble', () => {
    const reader = shell.read(LIMITS);
    expect([...reader.stdout('out'), ...reader.stderr('err')]).toEqual(['out', 'err']);
    expect(reader.report()).toEqual({ usage: null, finished: false, trouble: null });
  });

  it.each([
    [
      { code: 0, endedBy: 'itself' },
      { outcome: 'verified', detail: 'the run command: exit status 0', feedback: '' },
    ],
    [
      { code: 2, endedBy: 'itself' },
      {
        outcome: 'agent-failed',
        detail: 'the run command: exit status 2',
        feedback: 'the run command: exit status 2\nIts last output:\nfirst\nsecond',
      },
    ],
    [
      { code: null, endedBy: 'itself' },
      {
        outcome: 'agent-failed',
        detail: 'the run command: ended by a signal',
        feedback: 'the run command: ended by a signal\nIts last output:\nfirst\nsecond',
      },
    ],
    [
      { code: null, endedBy: 'total' },
      {
        outcome: 'timed-out',
        detail: 'still at work after 90 s, limit 90 s',
        feedback: 'still at work after 90 s, limit 90 s\nIts last output:\nfirst\nsecond',
      },
    ],
    [
      { code: 0, endedBy: 'idle' },
      {
        outcome: 'idle',
        detail: 'no output for 1.5 s, limit 1.5 s',
        feedback: 'no output for 1.5 s, limit 1.5 s\nIts last output:\nfirst\nsecond',
      },
    ],
  ] as const)('judges %o', (end, verdict) => {
    const reader = shell.read(LIMITS);
    reader.stdout('first');
    reader.stderr('second');
    expect(reader.verdict(end)).toEqual({ ...verdict, resetAt: null });
  });

  it('keeps the end of a long output as feedback', () => {
    const reader = shell.read(LIMITS);
    for (let line = 1; line <= 10_000; line++) reader.stdout(`line ${line}`);
    reader.stdout('x'.repeat(5000));
    const { feedback } = reader.verdict({ code: 1, endedBy: 'itself' });
    expect(feedback.length).toBeLessThan(8200);
    expect(feedback.endsWith(`line 10000\n${'x'.repeat(999)}…`)).toBe(true);
  });
});
