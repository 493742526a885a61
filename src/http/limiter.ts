/** How often those are forgotten that have not asked for long enough. */
const FORGET_MS = 60_000;
const MINUTE_MS = 60_000;

/** Limits each key to so many requests in a minute; as many may come at once. */
export type Limiter = ReturnType<typeof createLimiter>;

export function createLimiter(perMinute: number, now: () => number = () => performance.now()) {
  const interval = MINUTE_MS / perMinute;
  /** When each would have used up its past requests, had they come evenly. */
  const usedUntil = new Map<string, number>();
  let forgotten = now();
  const forget = (time: number): void => {
    forgotten = time;
    for (const [key, until] of usedUntil) if (until <= time) usedUntil.delete(key);
  };
  return {
    /** 0, or in how many ms there is room for the request. */
    take: (key: string): number => {
      const time = now();
      if (time - forgotten > FORGET_MS) forget(time);
      const next = Math.max(usedUntil.get(key) ?? time, time) + interval;
      const late = next - time - MINUTE_MS;
      // The numbers have a fraction.
      if (late > 0.001) return late;
      usedUntil.set(key, next);
      return 0;
    },
    /** How many are remembered. */
    size: (): number => usedUntil.size,
  };
}
