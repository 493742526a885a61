import { expect, it } from 'vitest';
import { exitCode } from './program-end.ts';

it.each([
  [{ endedBy: 'itself', code: 0, signal: null }, 0],
  [{ endedBy: 'itself', code: 3, signal: null }, 3],
  [{ endedBy: 'itself', code: null, signal: 'SIGSEGV' }, 139],
  [{ endedBy: 'timeout', code: 0, signal: null }, 124],
  [{ endedBy: 'killed', code: null, signal: 'SIGKILL' }, 137],
  [{ endedBy: 'killed', code: 3, signal: null }, 3],
  [{ endedBy: 'killed', code: 0, signal: null }, 143],
  [{ endedBy: 'not-started', code: null, signal: null }, 126],
] as const)('the exit status of %j is %d', (end, status) => {
  expect(exitCode(end)).toBe(status);
});
