import { expect, it } from 'vitest';
import { resetOf } from './wait-for-reset.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const FACTS = { now: NOW, leastMs: 1000, leftMs: Infinity };
const paused = (resumeAt: string | null) => ({ status: 'paused', resumeAt }) as const;

it.each([
  ['at the end of the usage limit', paused('2026-01-01T05:00:00Z'), FACTS, 5 * 3_600_000],
  ['after a while, when the limit should be over already', paused('2025-12-31T23:00:00Z'), FACTS, 1000],
  ['not when the end is not known', paused(null), FACTS, undefined],
  ['not beyond the cap on its time', paused('2026-01-01T05:00:00Z'), { ...FACTS, leftMs: 3_600_000 }, undefined],
  ['not when it has ended', { status: 'complete', resumeAt: null } as const, FACTS, undefined],
])('a run that waits goes on %s', (_when, state, facts, inMs) => {
  expect(resetOf(state, facts)).toBe(inMs === undefined ? undefined : NOW + inMs);
});
