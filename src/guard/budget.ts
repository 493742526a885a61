import type { ServerResponse } from 'node:http';

/** What one exchange takes up to here is let in whatever else is under way. */
const SMALL_BYTES = 100 * 1024;
/** Of the whole, what one user may have. */
const SHARE = 1 / 4;

/** Bytes that all exchanges may have together, each until the end of its answer. `refuse`: the error for what would be more. */
export function createBudget(limit: number, refuse: (facts: { whose: string; limit: number }) => Error) {
  const share = limit * SHARE;
  const shares = new Map<string, number>();
  let taken = 0;
  const add = (user: string, bytes: number): void => {
    const before = shares.get(user) ?? 0;
    const after = before + bytes;
    if (after === 0) shares.delete(user);
    else shares.set(user, after);
    // More than a share is small exchanges: they take no room from other users.
    taken += Math.min(after, share) - Math.min(before, share);
  };
  const check = (user: string, bytes: number, isSmall: boolean): void => {
    const own = (shares.get(user) ?? 0) + bytes;
    const most = isSmall ? limit : share;
    if (own > most) throw refuse({ whose: 'this user', limit: most });
    if (!isSmall && taken + bytes > limit) throw refuse({ whose: 'all users', limit });
  };
  return {
    /** Returns what counts further bytes of this exchange, and throws when there is no room for them. */
    openFor: (user: string, raw: ServerResponse): ((bytes: number) => void) => {
      let own = 0;
      raw.once('close', () => add(user, -own));
      return (bytes) => {
        if (raw.destroyed) return;
        check(user, bytes, own + bytes <= SMALL_BYTES);
        add(user, bytes);
        own += bytes;
      };
    },
  };
}
