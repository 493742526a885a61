import type { Socket } from 'node:net';

/**
 * Carries bytes both ways until both sides are done. Both must be half-open sockets: the end of one side is passed on,
 * while the other may go on talking. What is silent for `idleMs` in both directions ends.
 */
export function joinSockets(one: Socket, other: Socket, idleMs: number): void {
  carry(one, other, idleMs);
  carry(other, one, idleMs);
  // A side that closed before we listened makes no event any more.
  if (one.destroyed) other.destroy();
  if (other.destroyed) one.destroy();
}

function carry(from: Socket, to: Socket, idleMs: number): void {
  from.on('error', () => to.destroy());
  from.on('close', () => {
    // Closed after its end, it has left what may still be on its way; closed before, it is broken.
    if (from.readableEnded) to.destroySoon();
    else to.destroy();
  });
  from.setTimeout(idleMs, () => from.destroy());
  from.pipe(to);
}
