import { expect, it } from 'vitest';
import { costOf, priceOf } from './prices.ts';

const A_MILLION_OUT = { inputTokens: 0, outputTokens: 1e6, cacheReadTokens: 0, cacheWriteTokens: 0 };
const OWN = { 'claude-opus-4-8': { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } };

it.each<[string, number, object]>([
  ['claude-opus-4-8', 25, {}],
  ['claude-opus-4-8[1m]', 25, {}],
  ['claude-opus-4-20250514', 75, {}],
  ['claude-opus-5-5', 20, {}],
  ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', 15, {}],
  ['claude-haiku-4-5@20251001', 5, {}],
  ['Claude-Opus-4-8', 2, OWN],
  ['claude-opus-4-7', 25, OWN],
])('a million tokens of output of %s cost $%i', (model, dollars, own) => {
  const { price, isGuess } = priceOf(model, own as typeof OWN);
  expect([costOf(A_MILLION_OUT, price), isGuess]).toEqual([dollars, false]);
});

it('a model without a known price is not taken for a cheap one', () => {
  const { price, isGuess } = priceOf('model-of-tomorrow', OWN);
  expect([costOf(A_MILLION_OUT, price), isGuess]).toEqual([75, true]);
});
