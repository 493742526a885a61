import { describe, expect, it } from 'vitest';
import { describe as inWords } from './describe.ts';

const gate = (name: string, ok: boolean) => ({ name, ok, required: ok, detail: ok ? '' : 'exit status 1' });

function passed(...gates: readonly ReturnType<typeof gate>[]): string {
  return inWords({
    type: 'gates-passed',
    at: '',
    level: 1,
    attempt: '@gates-of-level-1.1',
    count: 1,
    gates,
  }).text.toString();
}

describe('gates that let a level pass', () => {
  it('are named green only when they are', () => {
    expect(passed(gate('ls', true), gate('opt', false), gate('test', true))).toBe('gates green: ls, test');
  });

  it('are not called green when the only ones are red and not required', () => {
    expect(passed(gate('opt', false))).toBe('gates passed: no required one is red');
  });
});

it('red gates are told with the last line of what they printed', () => {
  const log = 'gate test failed: exit status 1\nline 1\n  2 of 9 tests failed\n\n';
  const red = { type: 'gates-failed', at: '', level: 1, attempt: '@gates-of-level-1.1', count: 1, gates: [] } as const;
  const [told, silent] = [log, 'gate test failed: exit status 1\n'].map((log) =>
    inWords({ ...red, log }).text.toString(),
  );
  expect(told).toBe('gates red: gate test failed: exit status 1; its last line: 2 of 9 tests failed');
  expect(silent).toBe('gates red: gate test failed: exit status 1');
});
