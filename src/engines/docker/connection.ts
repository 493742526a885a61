import { IncomingMessage } from 'node:http';
import type { Readable, Duplex } from 'node:stream';
import type { AppError, Timer } from '../../lib/index.ts';
import { startTimer } from '../../lib/index.ts';
import { createDial } from './dial.ts';
import type { Dial } from './dial.ts';
import { describeEndpoint } from './endpoint.ts';
import type { DockerEndpoint } from './endpoint.ts';
import { brokenOff, connectionError, reasonIn, refusal, timeoutError } from './errors.ts';
import { readText } from './json-lines.ts';

/** One request, and what its answers mean. */
export interface Call {
  /** In words that follow "could not": "start container web". */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: object;
  /** Answers that are as good as done: what is to be removed is gone. */
  readonly fine?: readonly number[];
  /** Answers that have an error of their own. */
  readonly errors?: Readonly<Record<number, (reason: string) => AppError>>;
  /** Starting and removing take longer than looking. */
  readonly slow?: boolean;
}

export interface Limits {
  readonly quickMs: number;
  readonly slowMs: number;
}

export const USUAL_LIMITS: Limits = { quickMs: 60_000, slowMs: 300_000 };

interface OpenOptions {
  readonly signal?: AbortSignal | undefined;
  readonly upload?: Readable;
}

export interface Connection {
  readonly place: string;
  /** The parsed answer. */
  ask<Answer>(call: Call): Promise<Answer>;
  /** The same; undefined when there is no such thing. */
  find<Answer>(call: Call): Promise<Answer | undefined>;
  /** For calls whose answer says nothing. */
  tell(call: Call): Promise<void>;
  /** An answer that takes as long as it takes; only its beginning has a limit, and with an upload not even that. */
  open(call: Call, options?: OpenOptions): Promise<IncomingMessage>;
  /** A connection that is no longer HTTP. */
  upgrade(call: Call): Promise<Duplex>;
}

/** Everything that goes to the engine goes through here: limits, refusals and broken connections are seen to once. */
export function openConnection(endpoint: DockerEndpoint, limits: Limits): Connection {
  const line: Line = {
    limits,
    place: describeEndpoint(endpoint),
    dial: createDial(endpoint),
  };
  return {
    place: line.place,
    ask: async <Answer>(call: Call) => (await exchange(line, call)) as Answer,
    find: async <Answer>(call: Call) => (await exchange(line, { ...call, fine: [404] })) as Answer | undefined,
    tell: async (call) => void (await exchange(line, call)),
    open: (call, options = {}) => open(line, call, options),
    upgrade: (call) => upgrade(line, call),
  };
}

interface Line {
  readonly limits: Limits;
  readonly place: string;
  readonly dial: Dial;
}

/** The parsed answer; undefined when it is one of those that are as good as done. */
function exchange(line: Line, call: Call): Promise<unknown> {
  const controller = new AbortController();
  return within(line, call, controller, async () => {
    const response = await line.dial.ask(requestOf(call, controller.signal));
    const text = await readText(response);
    if (isFine(call, response)) return undefined;
    if (isRefusal(response)) throw refusalOf(line, call, response, text);
    return text.trim() === '' ? undefined : (JSON.parse(text) as unknown);
  });
}

/** Aborting goes on to work after this has returned: the answer is still being read then. */
async function open(line: Line, call: Call, { signal, upload }: OpenOptions): Promise<IncomingMessage> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  signal?.addEventListener('abort', abort, { once: true });
  const begin = async (): Promise<IncomingMessage> => {
    const response = await line.dial.ask({ ...requestOf(call, controller.signal), upload });
    if (!isRefusal(response) || isFine(call, response)) return response;
    throw refusalOf(line, call, response, await readText(response));
  };
  try {
    const response = await (upload === undefined ? within(line, call, controller, begin) : begin());
    response.once('close', () => signal?.removeEventListener('abort', abort));
    return response;
  } catch (error) {
    signal?.removeEventListener('abort', abort);
    signal?.throwIfAborted();
    throw connectionError(error, { what: call.what, place: line.place });
  }
}

function upgrade(line: Line, call: Call): Promise<Duplex> {
  const controller = new AbortController();
  return within(line, call, controller, async () => {
    const answer = await line.dial.upgrade(requestOf(call, controller.signal));
    if (!(answer instanceof IncomingMessage)) return answer;
    throw refusalOf(line, call, answer, await readText(answer));
  });
}

async function within<Result>(
  { limits, place }: Line,
  { what, slow }: Call,
  controller: AbortController,
  work: () => Promise<Result>,
): Promise<Result> {
  const limitMs = slow === true ? limits.slowMs : limits.quickMs;
  let timer: Timer | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = startTimer(limitMs, () => {
      reject(timeoutError({ what, place }, limitMs));
      controller.abort();
    });
  });
  try {
    return await Promise.race([work(), timeout]);
  } catch (error) {
    throw connectionError(error, { what, place });
  } finally {
    timer?.cancel();
  }
}

function requestOf({ method, path, query = {}, body }: Call, signal: AbortSignal): Parameters<Dial['ask']>[0] {
  const wishes = new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)] as [string, string]),
  );
  return { method, path: wishes.size === 0 ? path : `${path}?${wishes.toString()}`, body, signal };
}

/** 304: it was so already. An engine does not send us elsewhere: what does so is none. */
const isRefusal = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 300 && statusCode !== 304;
const isFine = ({ fine }: Call, { statusCode = 0 }: IncomingMessage): boolean => fine?.includes(statusCode) === true;

function refusalOf({ place }: Line, call: Call, { statusCode = 0 }: IncomingMessage, text: string): AppError {
  const reason = reasonIn(text, statusCode);
  return call.errors?.[statusCode]?.(reason) ?? refusal({ what: call.what, place }, reason);
}

/** What is left to say when an answer ends before it is complete. */
export async function whole<Result>(asked: { what: string; place: string }, read: Promise<Result>): Promise<Result> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof SyntaxError) throw brokenOff(asked);
    throw connectionError(error, asked);
  }
}
