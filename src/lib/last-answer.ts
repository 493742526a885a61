import type { Socket } from 'node:net';

const LINGER_MS = 5000;

/** Ends a connection with an answer, and leaves its client some time to read it. */
export function endWithAnswer(client: Socket, answer: string | Uint8Array): void {
  client.setTimeout(LINGER_MS, () => client.destroy());
  // Unread bytes at the close would reset the connection before the answer is read.
  client.resume();
  client.once('end', () => client.destroySoon());
  client.end(answer);
}
