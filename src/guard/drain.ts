import type { IncomingMessage } from 'node:http';

const LIMIT_MS = 10_000;

/** Reads what still comes of a body that is not wanted: a client that is still sending would see a broken connection, and no answer. */
export function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(over, LIMIT_MS);
    for (const event of ['end', 'close', 'error']) request.once(event, over);
    request.unpipe().resume();
  });
}
