import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { guardErrors } from '../guard/errors.ts';
import { accountOf, checkRequest, createBodyBudget, drain } from '../guard/index.ts';
import type { BodyBudget, Guarding } from '../guard/index.ts';
import { hasCode } from '../lib/index.ts';
import type { Eras } from './eras.ts';
import { protocolError, readBody, refusal, send, webRequest } from './exchange.ts';

const MB = 1024 ** 2;
/** Code has 1 Mi characters at most, and each of them may be written as six. */
const BODY_BYTES = 8 * MB;
/** Of all bodies together that are under way. */
const BODIES_BYTES = 256 * MB;
const MOST_MESSAGES = 100;
const METHODS = ['GET', 'POST', 'DELETE'];
const PLACE = '/mcp';
/** In JSON-RPC. */
const [NO_JSON, NO_REQUEST] = [-32_700, -32_600];

interface AnswererRequest {
  readonly guarding: Guarding;
  readonly eras: Pick<Eras, 'answer'>;
  /** The server has failed. */
  readonly onFailure: (error: unknown) => void;
}

interface Behind extends AnswererRequest {
  readonly budget: BodyBudget;
}

/** Answers the requests of all clients: who may ask is known before anything of a request is read. */
export function createAnswerer(request: AnswererRequest) {
  const behind: Behind = { ...request, budget: createBodyBudget(BODIES_BYTES) };
  const calls = new Set<Promise<void>>();
  const listener: RequestListener = (incoming, outgoing) => {
    const closed = new Promise<void>((resolve) => outgoing.once('close', () => resolve()));
    // Other requests are streams, which last as long as their clients.
    if (incoming.method === 'POST') {
      calls.add(closed);
      void closed.then(() => calls.delete(closed));
    }
    void respond(behind, { incoming, outgoing, closed });
  };
  return {
    listener,
    /** Resolves when the calls that are under way are answered. */
    settled: (): Promise<unknown> => Promise.all(calls),
  };
}

interface Asked {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly closed: Promise<void>;
}

async function respond(behind: Behind, asked: Asked): Promise<void> {
  const { incoming, outgoing } = asked;
  const response = await answer(behind, asked).catch(async (error: unknown) => {
    const isLeft = hasCode(error, guardErrors.BODY_TOO_LARGE) || hasCode(error, guardErrors.BODIES_FULL);
    if (isLeft) await drain(incoming);
    const refused = refusal(error);
    if (refused.status === 500 && !outgoing.destroyed) behind.onFailure(error);
    return refused;
  });
  if (outgoing.destroyed) await response.body?.cancel().catch(() => undefined);
  else send(response, outgoing);
}

async function answer({ guarding, eras, budget }: Behind, { incoming, outgoing, closed }: Asked): Promise<Response> {
  outgoing.setHeader('x-content-type-options', 'nosniff');
  const user = checkRequest(incoming, guarding);
  const { method = '', url = '' } = incoming;
  if (url.split('?')[0] !== PLACE) return protocolError(404, NO_REQUEST, `There is nothing but ${PLACE}.`);
  if (!METHODS.includes(method))
    return protocolError(405, NO_REQUEST, `${method} has no use here.`, { allow: METHODS.join(', ') });
  const request = webRequest(incoming, outgoing);
  if (method !== 'POST') return eras.answer({ user, request, body: undefined, closed });
  const counted = budget.counted(accountOf(guarding, user, incoming), incoming, outgoing, incoming);
  const body = parsed(await readBody(counted, BODY_BYTES));
  if (body === undefined) return protocolError(400, NO_JSON, 'The body is no JSON.');
  if (Array.isArray(body) && body.length > MOST_MESSAGES)
    return protocolError(400, NO_REQUEST, `A body has ${MOST_MESSAGES} messages at most.`);
  return eras.answer({ user, request, body, closed });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
