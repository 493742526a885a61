import type { Price, Prices, Usage } from '../protocol/index.ts';

type Row = readonly [input: number, output: number, cacheRead: number, cacheWrite: number];

/**
 * List prices in US dollars per million tokens, from Anthropic's public price list as it was on 2026-11-19
 * (platform.claude.com/docs/en/about-claude/pricing). A price that depends on the length of the prompt is the higher one.
 * They serve only to estimate what an agent has not told yet.
 */
const LISTED: Readonly<Record<string, Row>> = {
  'claude-fable-5': [10, 50, 1, 12.5],
  'claude-mythos-5': [10, 50, 1, 12.5],
  'claude-opus-5-5': [4, 20, 0.2, 5],
  'claude-opus-5': [5, 25, 0.5, 6.25],
  'claude-opus-4-8': [5, 25, 0.5, 6.25],
  'claude-opus-4-7': [5, 25, 0.5, 6.25],
  'claude-opus-4-6': [5, 25, 0.5, 6.25],
  'claude-opus-4-5': [5, 25, 0.5, 6.25],
  'claude-opus-4': [15, 75, 1.5, 18.75],
  'claude-3-opus': [15, 75, 1.5, 18.75],
  'claude-sonnet-5': [2, 10, 0.2, 2.5],
  'claude-sonnet-4': [3, 15, 0.3, 3.75],
  'claude-3-7-sonnet': [3, 15, 0.3, 3.75],
  'claude-3-5-sonnet': [3, 15, 0.3, 3.75],
  'claude-haiku-5': [0.5, 2.5, 0.05, 0.625],
  'claude-haiku-4-5': [1, 5, 0.1, 1.25],
  'claude-3-5-haiku': [0.8, 4, 0.08, 1],
  'claude-3-haiku': [0.25, 1.25, 0.03, 0.3],
};

const PRICES: Prices = Object.fromEntries(
  Object.entries(LISTED).map(([model, [input, output, cacheRead, cacheWrite]]) => [
    model,
    { input, output, cacheRead, cacheWrite },
  ]),
);

/** For a model without a known price: it must not look cheaper than it is. */
const DEAREST: Price = {
  input: Math.max(...Object.values(PRICES).map(({ input }) => input)),
  output: Math.max(...Object.values(PRICES).map(({ output }) => output)),
  cacheRead: Math.max(...Object.values(PRICES).map(({ cacheRead }) => cacheRead)),
  cacheWrite: Math.max(...Object.values(PRICES).map(({ cacheWrite }) => cacheWrite)),
};

/** The price whose name is the longest part of the model's: "eu.anthropic.claude-opus-4-8-v1:0" has that of "claude-opus-4-8". */
export function priceIn(prices: Prices, model: string): Price | undefined {
  const name = model.toLowerCase();
  const [best] = Object.keys(prices)
    .filter((part) => name.includes(part.toLowerCase()))
    .toSorted((one, other) => other.length - one.length);
  return best === undefined ? undefined : prices[best];
}

interface KnownPrice {
  readonly price: Price;
  /** No price is known for the model: this is the highest one of all. */
  readonly isGuess: boolean;
}

/** The user's own prices come first. */
export function priceOf(model: string, own: Prices): KnownPrice {
  const price = priceIn(own, model) ?? priceIn(PRICES, model);
  return price === undefined ? { price: DEAREST, isGuess: true } : { price, isGuess: false };
}

/** In US dollars. */
export function costOf(tokens: Omit<Usage, 'costUsd'>, price: Price): number {
  const inMillions =
    tokens.inputTokens * price.input +
    tokens.outputTokens * price.output +
    tokens.cacheReadTokens * price.cacheRead +
    tokens.cacheWriteTokens * price.cacheWrite;
  return inMillions / 1e6;
}
