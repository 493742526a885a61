import type { Clock } from '../lib/index.ts';
import { inSeconds, readJson, readUntrusted } from '../lib/index.ts';
import { lease as leaseSchema } from '../protocol/index.ts';
import type { Lease } from '../protocol/index.ts';

/** The longest grace after our stdin has ended: a restarted orchestrator may take us over meanwhile. */
const GRACE_MS = 5000;

interface LeaseWatch {
  /** The orchestrator's end of our stdin is gone: it has ended, or was killed. */
  hangUp(): void;
  close(): void;
}

/**
 * Calls `lost` once the lease was not renewed for `leaseMs`, or for a short grace after the orchestrator hung up. The
 * limit is `lateMs` longer for a process that others need until they have ended.
 */
export function watchLease(options: {
  file: string;
  leaseMs: number;
  clock: Clock;
  lost: (cause: string) => void;
  lateMs?: number;
}): LeaseWatch {
  const { file, leaseMs, clock, lost, lateMs = 0 } = options;
  const everyMs = Math.max(20, Math.min(1000, leaseMs / 5));
  const silence = createSilence();
  let over = false;
  let last = clock.monotonic();

  const look = async (): Promise<void> => {
    const now = clock.monotonic();
    // Of a delay of this process only so much counts: the orchestrator may have been delayed as well.
    silence.add(Math.min(now - last, everyMs * 3));
    last = now;
    const seen = silence.beginLook();
    seen(readJson(leaseSchema, await readUntrusted(file, 4096).catch(() => undefined)));
    const limit = (silence.hasHungUp() ? Math.min(GRACE_MS, leaseMs) : leaseMs) + lateMs;
    // Several looks may be under way, when reading takes long.
    if (over || silence.ms() <= limit) return;
    close();
    lost(`no sign of life from the orchestrator for ${inSeconds(silence.ms())}, limit ${inSeconds(limit)}`);
  };
  const timer = setInterval(() => void look(), everyMs);
  const close = (): void => {
    over = true;
    clearInterval(timer);
  };
  void look();
  return { hangUp: silence.hangUp, close };
}

/** How long the orchestrator has given no sign of life. */
function createSilence() {
  let ms = 0;
  let last: Lease | undefined;
  let hungUp: { looked: boolean } | undefined;
  return {
    add: (more: number) => void (ms += more),
    ms: () => ms,
    hasHungUp: () => hungUp !== undefined,
    hangUp: () => {
      [hungUp, ms] = [{ looked: false }, 0];
    },
    /** The returned function takes what this look has found. */
    beginLook: () => {
      const before = hungUp;
      return (lease: Lease | undefined): void => {
        const isOther = last !== undefined && lease?.owner !== last.owner;
        if (lease !== undefined && (isOther || lease.beat !== last?.beat)) {
          last = lease;
          // After the end of stdin, the first change that is seen may be the last renewal of a dead owner.
          if (isOther || hungUp?.looked) hungUp = undefined;
          if (hungUp === undefined) ms = 0;
        }
        if (before !== undefined && hungUp === before) hungUp.looked = true;
      };
    },
  };
}
