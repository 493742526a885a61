import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform, finished } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBudget } from './budget.ts';
import { guardErrors } from './errors.ts';

export type BodyBudget = ReturnType<typeof createBodyBudget>;

/**
 * What the bodies of all requests may have together: their bytes count as they come, until the end of the answer.
 * What a request says of its length costs its sender nothing, so it counts for nothing.
 */
export function createBodyBudget(limit: number) {
  const { openFor } = createBudget(limit, guardErrors.BODIES_FULL);
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
