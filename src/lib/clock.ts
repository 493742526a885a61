/** Time comes in from outside, so that decisions can be tested without waiting. */
export interface Clock {
  /** Wall clock in ms since 1970: for people and for records. */
  now(): number;
  /** Monotonic ms: for limits and ages; a change of the wall clock does not touch it. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Waits; ends early, without an error, when the signal fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}
