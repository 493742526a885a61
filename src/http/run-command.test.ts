import { expect, it } from 'vitest';
import { wishOf } from './run-command.ts';

it('timeout_s is 600, 10 minutes, when it is left out', () => {
  expect(wishOf({ command: 'true' }).timeoutMs).toBe(600_000);
  expect(wishOf({ command: 'true', timeout_s: 0.5 }).timeoutMs).toBe(500);
});
