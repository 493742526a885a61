import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform, finished } from 'node:stream';
import type { Readable } from 'node:stream';
import { guardErrors } from './errors.ts';

/** A body of up to so many bytes is let in whatever else is under way. */
const SMALL_BYTES = 100 * 1024;
/** Of the whole, what one user may have. */
const SHARE = 1 / 4;

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/**
 * What the bodies of all requests may have together: their bytes count as they come, until the end of the answer.
 * What a request says of its length costs its sender nothing, so it counts for nothing.
 */
export function createBodyBudget(limit: number) {
  const share = limit * SHARE;
  const shares = new Map<string, number>();
  let taken = 0;
  const add = (user: string, bytes: number): void => {
    const before = shares.get(user) ?? 0;
    const after = before + bytes;
    if (after === 0) shares.delete(user);
    else shares.set(user, after);
    // More than a share is small bodies: they take no room from other users.
    taken += Math.min(after, share) - Math.min(before, share);
  };
  const check = (user: string, bytes: number, isSmall: boolean): void => {
    const own = (shares.get(user) ?? 0) + bytes;
    const most = isSmall ? limit : share;
    if (own > most) throw guardErrors.BODIES_FULL({ whose: 'this user', limit: most });
    if (!isSmall && taken + bytes > limit) throw guardErrors.BODIES_FULL({ whose: 'all users', limit });
  };
  const openFor = (user: string, raw: ServerResponse): ((bytes: number) => void) => {
    let own = 0;
    raw.once('close', () => add(user, -own));
    return (bytes) => {
      if (raw.destroyed) return;
      check(user, bytes, own + bytes <= SMALL_BYTES);
      add(user, bytes);
      own += bytes;
    };
  };
  return {
    /** The same body; it ends with BODIES_FULL when there is no room for what comes. */
    counted: (user: string, { headers }: IncomingMessage, raw: ServerResponse, body: Readable): Readable => {
      if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) return body;
      const counter = counterOf(openFor(user, raw));
      // The body of a refused request has no other listener.
      counter.on('error', () => undefined);
      finished(body, (error) => error && counter.destroy(error));
      // What is left of this body is read, because the next request of the connection comes after it.
      raw.once('close', () => body.unpipe(counter).resume());
      return body.pipe(counter);
    },
  };
}

function counterOf(take: (bytes: number) => void): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      try {
        take(chunk.length);
      } catch (error) {
        return done(error as Error);
      }
      done(null, chunk);
    },
  });
}
