import type { Socket } from 'node:net';
import { endWithAnswer, joinSockets } from '../../lib/index.ts';
import { answerConnect } from './answers.ts';
import { looksLikeTls } from './client-hello.ts';
import type { Answer } from './denial.ts';
import type { Opening } from './opening.ts';

/** A fatal alert, "unrecognized name": all that a TLS client can show of a refusal. */
const ALERT = Buffer.from([21, 3, 1, 0, 2, 2, 112]);

/** Passes on the opening, and all that follows. */
export function joinTunnel(client: Socket, upstream: Socket, opening: Opening, idleMs: number): void {
  if (opening.client.length > 0) upstream.write(opening.client);
  if (opening.server.length > 0) client.write(opening.server);
  joinSockets(client, upstream, idleMs);
}

/** Refuses a tunnel that is open already, in the protocol that its client speaks. */
export function refuseTunnel(client: Socket, opening: Opening, answer: Answer): void {
  if (!looksLikeTls(opening.client)) return answerConnect(client, answer);
  endWithAnswer(client, ALERT);
}
