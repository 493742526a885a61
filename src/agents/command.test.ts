import { describe, expect, it } from 'vitest';
import { createAgent } from './index.ts';

const TASK = { run: null, promptFile: '/run/prompt.md' };

function argvOf(prompt: 'stdin' | 'argument' | 'file', command: string[]): object {
  return createAgent({ kind: 'command', name: 'codex', command, prompt }, {}).command('Cost: $& {x}', TASK);
}

describe('a command agent', () => {
  it('gives the prompt on stdin', () => {
    expect(argvOf('stdin', ['codex', 'exec', '-'])).toEqual({
      file: 'codex',
      args: ['exec', '-'],
      input: 'Cost: $& {x}',
      env: {},
    });
  });

  it.each([
    ['argument', ['codex', 'exec', '--task={prompt}', '--json'], ['exec', '--task=Cost: $& {x}', '--json']],
    ['argument', ['codex', 'exec'], ['exec', 'Cost: $& {x}']],
    ['file', ['aider', '--message-file', '{prompt_file}', '--yes'], ['--message-file', '/run/prompt.md', '--yes']],
    ['file', ['aider'], ['/run/prompt.md']],
  ] as const)('gives the prompt as %s in %j', (prompt, command, args) => {
    expect(argvOf(prompt, [...command])).toEqual({ file: command[0], args, input: '', env: {} });
  });

  it('is judged by its exit status', () => {
    const agent = createAgent({ kind: 'command', name: 'codex', command: ['codex'], prompt: 'stdin' }, {});
    const reader = agent.read({ totalMs: 1000, idleMs: 1000 });
    reader.stderr('no such model');
    expect(reader.verdict({ code: 1, endedBy: 'itself' })).toEqual({
      outcome: 'agent-failed',
      detail: 'codex: exit status 1',
      feedback: 'codex: exit status 1\nIts last output:\nno such model',
      resetAt: null,
    });
  });
});
