import { createAwakeTime, PULSE_MS } from './awake-time.ts';

/** Passed in from outside, so that tests need not wait. */
export interface Clock {
  /** Wall clock in ms since 1970, for people and records. It may be set forward or back at any time. */
  now(): number;
  /** Monotonic ms in which this process ran, for limits and ages: without changes of the wall clock and standstills. */
  monotonic(): number;
}

const awake = createAwakeTime(performance.now.bind(performance));
setInterval(awake.pulse, PULSE_MS).unref();

export const systemClock: Clock & { wokeAt(): number } = {
  now: () => Date.now(),
  monotonic: awake.now,
  /** When the last standstill ended, in monotonic ms. */
  wokeAt: awake.wokeAt,
};

/** The longest time of a timer of Node. */
const LONGEST_MS = 2 ** 31 - 1;

export interface Timer {
  cancel(): void;
}

/** Calls back after so many ms in which this process ran: its own standstill must not look like the silence of another process. */
export function startTimer(ms: number, work: () => void): Timer {
  let timer: NodeJS.Timeout;
  const arm = (leftMs: number): void => {
    const [began, lost] = [awake.now(), awake.lostMs()];
    timer = setTimeout(
      () => {
        const stoodStill = awake.lostMs() > lost;
        const left = leftMs - (awake.now() - began);
        if (stoodStill && left > 0) arm(left);
        else work();
      },
      Math.min(leftMs, LONGEST_MS),
    );
  };
  arm(ms);
  return { cancel: () => clearTimeout(timer) };
}

/** Works again and again, so many ms after the end of the last time. */
export function repeat(ms: number, work: () => Promise<void>, onFailure: (error: unknown) => void): Timer {
  let timer: Timer;
  const again = (): void => {
    timer = startTimer(ms, () => void work().catch(onFailure).then(again));
  };
  again();
  return { cancel: () => timer.cancel() };
}

/** Resolves after so many ms, or early when the signal fires. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = startTimer(ms, done);
    signal?.addEventListener('abort', done, { once: true });
  });
}

/** The result of the work; undefined when it takes longer or the signal fires first, and the work goes on. Rejects when the work does. */
export async function within<Result>(
  ms: number,
  work: Promise<Result>,
  signal?: AbortSignal,
): Promise<Result | undefined> {
  const over = new AbortController();
  const stop = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  try {
    return await Promise.race([work, sleep(ms, stop).then(() => undefined)]);
  } finally {
    over.abort();
  }
}
