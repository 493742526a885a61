import { expect, it } from 'vitest';
import { addUsage, NO_USAGE, replaceUsage } from './index.ts';
import type { Usage } from './index.ts';

const used = (tokens: number, costUsd: number | null): Usage => ({ ...NO_USAGE, inputTokens: tokens, costUsd });

it.each<[string, Usage, Usage, number | null]>([
  ['nothing that is known', used(1, null), used(2, null), null],
  ['something that is known and something that is not', used(1, 0.5), used(2, null), 0.5],
  ['nothing known and no cost at all', used(1, null), used(2, 0), 0],
  ['fractions, without digits that mean nothing', used(1, 0.1), used(2, 0.2), 0.3],
])('the sum of %s', (_what, one, other, cost) => {
  expect(addUsage(one, other)).toEqual(used(3, cost));
  expect(addUsage(other, one)).toEqual(used(3, cost));
});

it('an estimate leaves the sum when the true cost takes its place', () => {
  const estimated = addUsage(used(10, 1), used(5, 0.9));
  expect(replaceUsage(estimated, used(5, 0.9), used(7, 0.25))).toEqual(used(17, 1.25));
});
