import { randomInt } from 'node:crypto';

interface Range {
  readonly first: number;
  readonly count: number;
}

/** No system gives these numbers to people, to services or to its own containers. */
const FREE = {
  sessions: { first: 1_900_000_000, count: 50_000_000 },
  caches: { first: 1_950_000_000, count: 50_000_000 },
  programs: { first: 2_000_000_000, count: 50_000_000 },
};
/**
 * An engine that maps users has few numbers, which are others outside. So few may be the same for two servers of one engine, and
 * come again after 10,000 sessions (29,000 programs); two caches have the same one once in 10,000.
 */
const MAPPED = {
  sessions: { first: 10_000, count: 10_000 },
  caches: { first: 20_000, count: 10_000 },
  programs: { first: 30_000, count: 29_000 },
};

export type Users = ReturnType<typeof createUsers>;

/**
 * What programs run as. The kernel counts some of its resources by user and over all containers, so no two sandboxes have the
 * same user at a time, also those of two servers; of so many, none comes again while anything of it could still be there. Where
 * users are mapped, that is true of one server that has fewer sandboxes than numbers, and only likely of two.
 */
export function createUsers({ mapsUsers }: { readonly mapsUsers: boolean }) {
  const { sessions, caches, programs } = mapsUsers ? MAPPED : FREE;
  return {
    /** For a new sandbox that has one user. */
    nextSession: oneAfterTheOther(sessions),
    /** For one execution among those of others. */
    nextProgram: oneAfterTheOther(programs),
    /** For the sandboxes that have a cache, one after the other: its files are theirs. `id`: a digest. */
    ofCache: (id: string): number => caches.first + (Number.parseInt(id.slice(0, 8), 16) % caches.count),
  };
}

function oneAfterTheOther({ first, count }: Range): () => number {
  let last = randomInt(count);
  return () => {
    last = (last + 1) % count;
    return first + last;
  };
}
