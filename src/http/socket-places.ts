import { httpErrors } from './errors.ts';

/** Open at a time, of one session and of one user: each may hold a message that is not whole yet. */
const OF_SESSION = 32;
const OF_USER = 64;

/** Counts the open sockets. `take` throws SOCKETS_FULL, and returns what gives the place back. */
export function createSocketPlaces(): { take(user: string, session: string): () => void } {
  const taken = new Map<string, number>();
  const add = (key: string, count: number): void => {
    const left = (taken.get(key) ?? 0) + count;
    if (left === 0) taken.delete(key);
    else taken.set(key, left);
  };
  return {
    take: (user, session) => {
      const wanted = [
        { key: `session ${session}`, limit: OF_SESSION },
        { key: `user ${user}`, limit: OF_USER },
      ];
      for (const { key, limit } of wanted)
        if ((taken.get(key) ?? 0) >= limit) throw httpErrors.SOCKETS_FULL({ whose: key, limit });
      for (const { key } of wanted) add(key, 1);
      return () => {
        for (const { key } of wanted) add(key, -1);
      };
    },
  };
}
