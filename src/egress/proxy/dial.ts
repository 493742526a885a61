import { createConnection } from 'node:net';
import type { Socket } from 'node:net';
import { inSeconds, startTimer } from '../../lib/index.ts';

/** How many addresses of a name are tried. */
const MOST = 4;

/** Connects to the first address that answers; `limitMs` is for all of them. Rejects with the last error. */
export type Dial = (addresses: readonly string[], port: number, limitMs: number) => Promise<Socket>;

export const dial: Dial = async (addresses, port, limitMs) => {
  const tries = addresses.slice(0, MOST);
  let last = new Error('no address');
  for (const address of tries) {
    const tried = await connect(address, port, limitMs / tries.length);
    if (!(tried instanceof Error)) return tried;
    last = tried;
  }
  throw last;
};

function connect(host: string, port: number, limitMs: number): Promise<Socket | Error> {
  return new Promise((resolve) => {
    // Only addresses come here, so that nothing is looked up again.
    const socket = createConnection({ host, port, allowHalfOpen: true, noDelay: true, keepAlive: true });
    const timer = startTimer(limitMs, () => socket.destroy(new Error(`no answer within ${inSeconds(limitMs)}`)));
    const fail = (error: Error): void => {
      timer.cancel();
      resolve(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      timer.cancel();
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
