import { z } from 'zod';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
export const UNIT_BYTES = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

/** "90", 90 (seconds), "90s", "1.5m", "2h", "500ms" in ms; undefined when it is none of these, or not above zero. */
export function parseDuration(value: string | number): number | undefined {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/.exec(String(value).trim()) ?? [];
  return wholeAmount(Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]);
}

/** "512m", "4g", "1.5 GiB" in bytes; undefined when it is none of these, or not above zero. */
function parseSize(value: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([kmg])i?b?$/.exec(value.trim().toLowerCase()) ?? [];
  return wholeAmount(Number(amount) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES]);
}

function wholeAmount(amount: number): number | undefined {
  const whole = Math.round(amount);
  return whole > 0 && Number.isSafeInteger(whole) ? whole : undefined;
}

const LEAST_DOLLARS = 0.01;

/** "5", "5.50", "$5" in US dollars; undefined when it is none of these, or less than a cent. */
export function parseDollars(value: string): number | undefined {
  const [, amount] = /^\$?(\d+(?:\.\d+)?)$/.exec(value.trim()) ?? [];
  return Number(amount) >= LEAST_DOLLARS ? Number(amount) : undefined;
}

export const dollars = z.number().min(LEAST_DOLLARS);

const NOT_A_DURATION = 'not a duration: use seconds (90) or "90s", "15m", "2h"';

export const duration = z
  .union([z.number(), z.string()], NOT_A_DURATION)
  .refine((value) => parseDuration(value) !== undefined, NOT_A_DURATION)
  .transform((value) => parseDuration(value) ?? 0)
  .describe('Seconds, or a text such as "90s", "15m", "2h".');

const NOT_A_SIZE = 'not a size: use "512m" or "4g"';

export const sizeOf = (least: number): z.ZodType<number, string> =>
  z
    .string(NOT_A_SIZE)
    .refine((value) => parseSize(value) !== undefined, NOT_A_SIZE)
    .transform((value) => parseSize(value) ?? 0)
    .refine(
      (bytes) => bytes >= least,
      `too little: at least ${least < UNIT_BYTES.m ? `${least / UNIT_BYTES.k}k` : `${least / UNIT_BYTES.m}m`}`,
    )
    .describe('A text such as "512m" or "4g".');
