import type { ServerResponse } from 'node:http';
import { Transform } from 'node:stream';
import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { httpErrors } from './errors.ts';

/** Says nothing of its length. */
export const isInPieces = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers['transfer-encoding'] !== undefined;

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** What the bodies of all requests may have together: each counts from its beginning to the end of its answer. */
export function createBodyBudget(limit: number) {
  let taken = 0;
  const openFor = (raw: ServerResponse): ((bytes: number) => void) => {
    let own = 0;
    raw.once('close', () => (taken -= own));
    return (bytes) => {
      if (taken + bytes > limit) throw httpErrors.BODIES_FULL({ limit });
      if (raw.destroyed) return;
      taken += bytes;
      own += bytes;
    };
  };
  return {
    /** For a body that says its length. Throws BODIES_FULL. */
    enter: ({ headers, routeOptions }: FastifyRequest, { raw }: FastifyReply): void => {
      const bytes = Number(headers['content-length'] ?? 0);
      // One that is too long in itself is refused as such.
      if (bytes > 0 && bytes <= (routeOptions.bodyLimit ?? 0)) openFor(raw)(bytes);
    },
    /** A body that does not say its length counts as it comes. */
    counted: ({ headers }: FastifyRequest, { raw }: FastifyReply, body: Readable): Readable => {
      if (!isInPieces({ headers })) return body;
      const take = openFor(raw);
      const counter = new Transform({
        transform: (chunk: Buffer, _, done) => {
          try {
            take(chunk.length);
          } catch (error) {
            return done(error as Error);
          }
          done(null, chunk);
        },
      });
      return body.pipe(counter);
    },
  };
}
