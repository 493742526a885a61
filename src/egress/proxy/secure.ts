import type { Socket } from 'node:net';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { inSeconds, startTimer } from '../../lib/index.ts';
import type { Target } from '../target/index.ts';

/** TLS over a connection to an address that was checked; rejects when the server does not prove that it has the name. */
export function secured(upstream: Socket, { host, isAddress }: Target, limitMs: number): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      socket: upstream,
      host,
      ...(isAddress ? {} : { servername: host }),
      ALPNProtocols: ['http/1.1'],
      minVersion: 'TLSv1.2',
    });
    const timer = startTimer(limitMs, () => socket.destroy(new Error(`no TLS within ${inSeconds(limitMs)}`)));
    const fail = (error: Error): void => {
      timer.cancel();
      upstream.destroy();
      reject(error);
    };
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      timer.cancel();
      socket.off('error', fail);
      resolve(socket);
    });
  });
}
