import type { Socket } from 'node:net';

/** How long a client may take to read the last answer. */
const LINGER_MS = 5000;

/**
 * Carries bytes both ways until both sides are done. Both must be half-open sockets: the end of one side is passed on,
 * and the other side may go on. After `idleMs` without traffic both are closed.
 */
export function joinSockets(one: Socket, other: Socket, idleMs: number): void {
  carry(one, other, idleMs);
  carry(other, one, idleMs);
  // A side that has closed before makes no event any more.
  if (one.destroyed) other.destroy();
  if (other.destroyed) one.destroy();
}

function carry(from: Socket, to: Socket, idleMs: number): void {
  from.on('error', () => to.destroy());
  from.on('close', () => {
    // After its end, what it has sent may still be on its way; a close without an end is a broken connection.
    if (from.readableEnded) to.destroySoon();
    else to.destroy();
  });
  from.setTimeout(idleMs, () => from.destroy());
  from.pipe(to);
}

/** Ends a connection with an answer, and leaves its client some time to read it. */
export function endWithAnswer(client: Socket, answer: string | Uint8Array): void {
  client.setTimeout(LINGER_MS, () => client.destroy());
  // Unread bytes at the close would reset the connection before the answer is read.
  client.resume();
  client.once('end', () => client.destroySoon());
  client.end(answer);
}
