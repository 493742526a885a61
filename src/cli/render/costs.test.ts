import { expect, it } from 'vitest';
import { NO_USAGE } from '../../protocol/index.ts';
import { shortCost, sumOf } from './costs.ts';

it.each([
  [{ costUsd: 1.234, inputTokens: 5 }, '$1.23'],
  [{ inputTokens: 500, outputTokens: 499 }, '999 tok'],
  [{ cacheReadTokens: 12_400, cacheWriteTokens: 200 }, '13k tok'],
  [{ inputTokens: 999_499 }, '999k tok'],
  [{ inputTokens: 999_500 }, '1.0M tok'],
  [{}, ''],
])('%o is shown as %j', (usage, words) => {
  expect(shortCost({ ...NO_USAGE, ...usage })).toBe(words);
});

it('a usage that is not known adds nothing', () => {
  const usage = { ...NO_USAGE, inputTokens: 5, costUsd: 1 };
  expect(sumOf([usage, null, undefined, usage])).toEqual({ ...NO_USAGE, inputTokens: 10, costUsd: 2 });
});
