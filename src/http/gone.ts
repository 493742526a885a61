import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';

/** Fires when the client has gone before its answer was complete. */
export function goneSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort();
  });
  if (raw.destroyed) gone.abort();
  return gone.signal;
}

/** An answer that waits for an earlier one of its connection does not hear from Node that this is closed. */
export function closeWithConnection(connection: Socket, raw: ServerResponse): void {
  if (raw.socket !== null) return;
  const close = (): void => {
    if (raw.destroyed) return;
    raw.destroy();
    raw.emit('close');
  };
  // As many answers may wait as the client sends requests.
  connection.setMaxListeners(0).once('close', close);
  raw.once('close', () => connection.off('close', close));
}
