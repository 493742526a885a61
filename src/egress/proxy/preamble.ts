import type { Socket } from 'node:net';
import type { EgressClaim } from '../../protocol/index.ts';
import { LONGEST_PREAMBLE, readEgressPreamble } from '../../protocol/index.ts';
import { startTimer } from '../../lib/index.ts';

/**
 * Reads the first line of a connection, and puts back what has come after it. A connection with another first line is
 * closed. Nothing more is read until `goOn` is called.
 */
export function awaitPreamble(
  socket: Socket,
  limitMs: number,
  ready: (claim: EgressClaim, goOn: () => void) => void,
): void {
  let seen = Buffer.alloc(0);
  const timer = startTimer(limitMs, () => socket.destroy());
  const stop = (): void => timer.cancel();
  const take = (chunk: Buffer): void => {
    seen = Buffer.concat([seen, chunk]);
    const preamble = readEgressPreamble(seen.subarray(0, LONGEST_PREAMBLE).toString('latin1'));
    if (preamble === undefined) return;
    if (preamble === null) return void socket.destroy();
    stop();
    socket.off('data', take);
    socket.pause();
    const rest = seen.subarray(preamble.bytes);
    if (rest.length > 0) socket.unshift(rest);
    ready(preamble, () => {
      socket.off('error', ignore);
      socket.resume();
    });
  };
  socket.on('error', ignore);
  socket.once('close', stop);
  socket.on('data', take);
}

const ignore = (): void => undefined;
