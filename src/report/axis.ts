import type { Period, Timeline } from './timeline.ts';

/** Between two periods, as part of the whole. */
const BREAK = 0.01;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const STEPS = [1, 2, 5, 10, 15, 30]
  .flatMap((step) => [step * SECOND, step * MINUTE])
  .concat([1, 2, 3, 6, 12, 24].map((step) => step * HOUR))
  .toSorted((one, other) => one - other);
/** More of them would be written over each other where the time line is narrow. */
const MOST_TICKS = 8;

export interface Axis {
  /** Where a time is, from 0 to 1. Times in which no orchestrator was at work take no room. */
  position(at: number): number;
  /** Middles of the gaps between two periods. */
  readonly breaks: readonly number[];
  /** Round lengths of worked time, and where they are. */
  readonly ticks: readonly { readonly ms: number; readonly at: number }[];
  readonly totalMs: number;
}

/** Pure. */
export function axisOf({ periods }: Pick<Timeline, 'periods'>): Axis {
  const totalMs = periods.reduce((sum, { from, to }) => sum + to - from, 0);
  const worked = 1 - BREAK * Math.max(0, periods.length - 1);
  const starts = periods.map((_, index) => sumOf(periods.slice(0, index)));
  const place = (index: number, ms: number): number =>
    (totalMs === 0 ? 0 : (((starts[index] ?? 0) + ms) / totalMs) * worked) + index * BREAK;
  const position = (at: number): number => {
    const index = Math.max(
      0,
      periods.findLastIndex(({ from }) => from <= at),
    );
    const { from = 0, to = 0 } = periods[index] ?? {};
    return place(index, Math.min(Math.max(at, from), to) - from);
  };
  const breaks = periods.slice(1).map((_, index) => place(index + 1, 0) - BREAK / 2);
  const ticks = ticksUpTo(totalMs).map((ms) => {
    const index = Math.max(
      0,
      starts.findLastIndex((start) => start <= ms),
    );
    return { ms, at: place(index, ms - (starts[index] ?? 0)) };
  });
  return { position, breaks, ticks, totalMs };
}

const sumOf = (periods: readonly Period[]): number => periods.reduce((sum, { from, to }) => sum + to - from, 0);

function ticksUpTo(totalMs: number): number[] {
  const step = STEPS.find((each) => totalMs / each <= MOST_TICKS) ?? Math.ceil(totalMs / MOST_TICKS / HOUR) * HOUR;
  return Array.from({ length: Math.floor(totalMs / step) + 1 }, (_, index) => index * step);
}
