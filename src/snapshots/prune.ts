import type { KeptSnapshot } from './store.ts';

const WEEK_MS = 7 * 24 * 3_600_000;
/** A container that is to use a snapshot may not be made yet. */
const JUST_USED_MS = 3_600_000;

interface Limits {
  readonly now: number;
  /** Of all snapshots together. */
  readonly bytes: number;
  /** Snapshots that containers use. */
  readonly inUse: ReadonlySet<string>;
}

/** Pure: the snapshots to remove: those not used for a week, and as many of the longest unused ones as are over the limit. */
export function whichToRemove(kept: readonly KeptSnapshot[], { now, bytes, inUse }: Limits): KeptSnapshot[] {
  let total = kept.reduce((sum, one) => sum + one.bytes, 0);
  const free = whichAreFree(kept, { now, inUse, isLive: true });
  return free
    .toSorted((one, other) => one.usedAt - other.usedAt)
    .filter((one) => {
      const goes = total > bytes || now - one.usedAt > WEEK_MS;
      if (goes) total -= one.bytes;
      return goes;
    });
}

interface Users extends Pick<Limits, 'now' | 'inUse'> {
  /** Runs that may use them are live. */
  readonly isLive: boolean;
}

/** Pure: the snapshots that nothing uses. */
export function whichAreFree(kept: readonly KeptSnapshot[], { now, inUse, isLive }: Users): KeptSnapshot[] {
  return kept.filter(({ id, usedAt }) => !inUse.has(id) && !(isLive && now - usedAt <= JUST_USED_MS));
}
