import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { accountOf, createBudget } from '../guard/index.ts';
import type { Guarding } from '../guard/index.ts';
import { httpErrors } from './errors.ts';

/** Of an answer. */
const LARGE_BYTES = 100 * 1024;

export interface AnswerLimits {
  /** Of all answers together that are being made, or are not yet read. */
  readonly answersBytes: number;
  /** For so long a client may take nothing of an answer. */
  readonly silentMs: number;
}

interface AnswerRoom {
  /** Counts bytes that are held for the answer. Throws ANSWERS_FULL; an AbortError when no one waits for it. */
  take(bytes: number): void;
  /** Counts the answer itself, in place of what it was made from. Throws ANSWERS_FULL. */
  fill(bytes: number): void;
}

declare module 'fastify' {
  interface FastifyRequest {
    room: AnswerRoom | null;
  }
}

/** Unread answers would fill the memory. Streams have limits of their own. */
export function limitAnswers(
  server: FastifyInstance,
  guarding: Guarding,
  { answersBytes, silentMs }: AnswerLimits,
): void {
  const budget = createBudget(answersBytes, httpErrors.ANSWERS_FULL);
  server.decorateRequest('room', null);
  server.addHook('preHandler', async (request, reply) => {
    request.room = roomFor(budget.openFor(accountOf(guarding, request.user, request.raw), reply.raw), reply);
  });
  server.addHook('onSend', async (request, reply, payload) => {
    // One that is injected has no connection.
    if (request.raw.socket instanceof Socket) endWhenSilent(reply.raw, silentMs);
    // A refusal has little more than its request.
    if (typeof payload !== 'string' || reply.statusCode >= 400) return payload;
    const bytes = Buffer.byteLength(payload);
    request.room?.fill(bytes);
    // A text would stay in the heap until it is read, and the heap is smaller than the memory.
    return bytes > LARGE_BYTES ? Buffer.from(payload) : payload;
  });
}

function roomFor(count: (bytes: number) => void, { raw }: FastifyReply): AnswerRoom {
  let held = 0;
  return {
    take: (bytes) => {
      if (raw.destroyed) throw new DOMException('The client has gone.', 'AbortError');
      count(bytes);
      held += bytes;
    },
    fill: (bytes) => {
      if (bytes > held) count(bytes - held);
    },
  };
}

function endWhenSilent(raw: ServerResponse, silentMs: number): void {
  raw.setTimeout(silentMs, () => raw.destroy());
  // The next answer of the connection may take longer to be made; Node's own listener comes after this one.
  raw.prependOnceListener('finish', () => raw.socket?.setTimeout(0));
}
