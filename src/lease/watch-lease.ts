import type { Clock } from '../lib/index.ts';
import { inSeconds, readUntrusted } from '../lib/index.ts';
import { lease as leaseSchema } from '../protocol/index.ts';
import type { Lease } from '../protocol/index.ts';

/** The longest grace after our stdin has ended: a restarted orchestrator may take us over meanwhile. */
const GRACE_MS = 5000;

export interface LeaseWatch {
  /** The orchestrator's end of our stdin is gone: it has ended, or was killed. */
  hangUp(): void;
  close(): void;
}

/**
 * Calls `lost` once the lease was not renewed for `leaseMs`, or for a short grace after the orchestrator hung up.
 * Only our own clock counts, and only time in which we ran: neither a changed wall clock nor a closed laptop lid
 * makes an orphan of us.
 */
export function watchLease(options: {
  file: string;
  leaseMs: number;
  clock: Clock;
  lost: (cause: string) => void;
  /** Ends so much later, for those whom others need to their end. */
  lateMs?: number;
}): LeaseWatch {
  const { file, leaseMs, clock, lost, lateMs = 0 } = options;
  const everyMs = Math.max(20, Math.min(1000, leaseMs / 5));
  let seen: Lease | undefined;
  let hungUp = false;
  /** We have looked since then: a renewal from now on is a live owner's; one before may have been a dead one's last. */
  let looked = false;
  let over = false;
  let silentMs = 0;
  let last = clock.monotonic();

  const check = async (): Promise<void> => {
    const now = clock.monotonic();
    // A gap far beyond the interval was a sleep of the machine: only one interval of it counts.
    silentMs += Math.min(now - last, everyMs * 3);
    last = now;
    const before = hungUp;
    const lease = await readLease(file);
    // A look that takes long is not the only one under way.
    if (over) return;
    if (lease !== undefined && (lease.beat !== seen?.beat || lease.owner !== seen.owner)) {
      const another = seen !== undefined && lease.owner !== seen.owner;
      seen = lease;
      if (hungUp && (looked || another)) hungUp = false;
      if (!hungUp) silentMs = 0;
    }
    looked = hungUp && (looked || before);
    const limit = (hungUp ? Math.min(GRACE_MS, leaseMs) : leaseMs) + lateMs;
    if (silentMs > limit) {
      close();
      lost(`no sign of life from the orchestrator for ${inSeconds(silentMs)}, limit ${inSeconds(limit)}`);
    }
  };
  const timer = setInterval(() => void check(), everyMs);
  const close = (): void => {
    over = true;
    clearInterval(timer);
  };
  void check();
  return {
    hangUp: () => {
      [hungUp, looked] = [true, false];
      silentMs = 0;
    },
    close,
  };
}

async function readLease(file: string): Promise<Lease | undefined> {
  try {
    const text = await readUntrusted(file, 4096);
    return text === undefined ? undefined : leaseSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
