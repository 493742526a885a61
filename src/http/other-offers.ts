import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

const OFFER = new Set(['connection', 'http2-settings', 'upgrade']);

export const offersSocket = ({ headers }: IncomingMessage): boolean =>
  /(^|,)\s*websocket\s*(,|$)/i.test(headers.upgrade ?? '');

/** A client that offers another protocol, say HTTP/2, is answered in this one: its request is read again without the offer. */
export function readWithoutOffer(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method = '', url = '', httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!OFFER.has(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
