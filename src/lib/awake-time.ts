export const PULSE_MS = 250;
/** A busy machine is late by less. */
const STANDSTILL_MS = 1000;

/** Time in which this process ran. */
export interface AwakeTime {
  /** Milliseconds; a standstill counts as one pulse. */
  now(): number;
  /** How much time has passed in standstills. */
  lostMs(): number;
  /** When the last standstill ended, in the time of `now`. */
  wokeAt(): number;
}

/**
 * SIGSTOP, a paused virtual machine and, on some systems, a closed lid stop a process while the monotonic clock goes on.
 * A process whose `pulse` is called every PULSE_MS notices it: the gap is longer than any delay.
 */
export function createAwakeTime(monotonic: () => number): AwakeTime & { pulse(): void } {
  let last = monotonic();
  let lost = 0;
  let wokeAt = -Infinity;
  const pulse = (): void => {
    const now = monotonic();
    const gap = now - last;
    last = now;
    if (gap <= STANDSTILL_MS) return;
    lost += gap - PULSE_MS;
    wokeAt = now - lost;
  };
  const afterPulse =
    (value: () => number): (() => number) =>
    () => {
      pulse();
      return value();
    };
  return {
    pulse,
    now: afterPulse(() => last - lost),
    lostMs: afterPulse(() => lost),
    wokeAt: afterPulse(() => wokeAt),
  };
}
