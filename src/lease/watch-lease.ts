import type { Clock } from '../lib/index.ts';
import { readUntrusted } from '../lib/index.ts';
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
 * Calls `lost` once nobody has renewed the lease for `leaseMs`, or for a short grace after the orchestrator hung up.
 * Only our own clock counts, and only time in which we ran: neither a changed wall clock nor a closed laptop lid
 * makes an orphan of us.
 */
export function watchLease(options: {
  file: string;
  leaseMs: number;
  clock: Clock;
  lost: (cause: string) => void;
}): LeaseWatch {
  const { file, leaseMs, clock, lost } = options;
  const everyMs = Math.max(20, Math.min(1000, leaseMs / 5));
  let seen: Lease | undefined;
  let owner: string | undefined;
  let hungUp = false;
  /** Who hung up; the first owner we see where it went before we looked at the lease at all. */
  let hungUpBy: string | undefined;
  let silentMs = 0;
  let last = clock.monotonic();

  const check = async (): Promise<void> => {
    const now = clock.monotonic();
    // A gap far beyond the interval was a sleep of the machine: only one interval of it counts.
    silentMs += Math.min(now - last, everyMs * 3);
    last = now;
    const lease = await readLease(file);
    if (lease !== undefined && (lease.beat !== seen?.beat || lease.owner !== seen.owner)) {
      seen = lease;
      owner = lease.owner;
      hungUpBy ??= hungUp ? owner : undefined;
      if (hungUp && owner !== hungUpBy) [hungUp, hungUpBy] = [false, undefined];
      if (!hungUp) silentMs = 0;
    }
    const limit = hungUp ? Math.min(GRACE_MS, leaseMs) : leaseMs;
    if (silentMs > limit) {
      clearInterval(timer);
      lost(`no sign of life from the orchestrator for ${(silentMs / 1000).toFixed(1)} s, limit ${limit / 1000} s`);
    }
  };
  const timer = setInterval(() => void check(), everyMs);
  void check();
  return {
    hangUp: () => {
      [hungUp, hungUpBy] = [true, owner];
      silentMs = 0;
    },
    close: () => clearInterval(timer),
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
