import { expect, it } from 'vitest';
import { randomId, timeId } from './ids.ts';

it('no two ids are the same, and each has as many digits', () => {
  const ids = Array.from({ length: 1000 }, randomId);
  expect(new Set(ids).size).toBe(1000);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{16}$/);
});

it('an id that sorts by time has the time to the second, and differs from another one of that second', () => {
  const ids = [timeId(Date.UTC(2026, 10, 18, 8, 1, 22)), timeId(Date.UTC(2026, 10, 18, 8, 1, 22))];
  for (const id of ids) expect(id).toMatch(/^20261118t080122-[0-9a-f]{6}$/);
  expect(ids[0]).not.toBe(ids[1]);
});
