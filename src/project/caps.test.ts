import { expect, it } from 'vitest';
import { chooseCaps } from './caps.ts';

const asked = { usd: 5, asked: true };
const configured = { usd: 8, asked: false };

it.each([
  ['the command line comes first', { maxCost: 3 }, asked, { cost: 20 }, { usd: 3, asked: true }],
  ['a resumed run keeps what was asked for', {}, asked, { cost: 20 }, asked],
  [
    'a resumed run follows the configuration of today otherwise',
    {},
    configured,
    { cost: 20 },
    { usd: 20, asked: false },
  ],
  ['a cap that was taken out of the configuration is gone', {}, configured, {}, null],
  ['without a word there is none', {}, null, {}, null],
] as const)('of caps, %s', (...[, wishes, run, limits, expected]) => {
  expect(chooseCaps(wishes, { run, task: null }, limits)).toEqual({ run: expected, task: null });
});
