export const PULSE_MS = 250;
/** A busy machine delays a pulse by less. */
const STANDSTILL_MS = 1000;

/**
 * Time in which this process ran. SIGSTOP, a paused virtual machine and, on some systems, a closed lid stop a process while
 * the monotonic clock goes on. When `pulse` is called every PULSE_MS, a gap that is longer than any delay is a standstill.
 */
export function createAwakeTime(monotonic: () => number) {
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
  const afterPulse = (value: () => number) => (): number => {
    pulse();
    return value();
  };
  return {
    pulse,
    /** Milliseconds; a standstill counts as one pulse. */
    now: afterPulse(() => last - lost),
    /** The length of all standstills. */
    lostMs: afterPulse(() => lost),
    /** When the last standstill ended, in the time of `now`. */
    wokeAt: afterPulse(() => wokeAt),
  };
}
