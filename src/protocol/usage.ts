import * as z from 'zod/mini';

const usageOf = (amount: z.ZodMiniNumber) =>
  z.strictObject({
    inputTokens: amount,
    outputTokens: amount,
    cacheReadTokens: amount,
    cacheWriteTokens: amount,
    /** In US dollars; null where no agent has told what it used. That is not the same as 0. */
    costUsd: z.nullable(amount),
  });
export const usage = usageOf(z.number());
export type Usage = z.infer<typeof usage>;

/** A worker may report anything; the sum over a run must stay a number. */
export const reportedUsage = usageOf(z.number().check(z.nonnegative(), z.maximum(1e12)));

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: null,
};

const TOKENS = ['inputTokens', 'outputTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

export function addUsage(sum: Usage, more: Usage): Usage {
  return replaceUsage(sum, null, more);
}

/** The sum with `after` in place of `before`: an attempt reports what it has used so far again and again. */
export function replaceUsage(sum: Usage, before: Usage | null, after: Usage): Usage {
  const changed = { ...sum };
  for (const count of TOKENS) changed[count] += after[count] - (before?.[count] ?? 0);
  const isKnown = sum.costUsd !== null || after.costUsd !== null;
  const cost = (sum.costUsd ?? 0) + (after.costUsd ?? 0) - (before?.costUsd ?? 0);
  return { ...changed, costUsd: isKnown ? inMillionths(cost) : null };
}

/** Sums of fractions would otherwise get digits that mean nothing. */
function inMillionths(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}

const dollars = z.number().check(z.nonnegative());

/** What a model costs, in US dollars per million tokens. */
export const price = z.strictObject({ input: dollars, output: dollars, cacheRead: dollars, cacheWrite: dollars });
export type Price = z.infer<typeof price>;

/** By the name of a model, or a part of it. */
export type Prices = Readonly<Record<string, Price>>;
