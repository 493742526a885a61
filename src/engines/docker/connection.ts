import { IncomingMessage } from 'node:http';
import type { Readable, Duplex } from 'node:stream';
import type { AppError } from '../../lib/index.ts';
import { describeEndpoint } from './endpoint.ts';
import type { DockerEndpoint } from './endpoint.ts';
import { brokenOff, connectionError, reasonIn, refusal, timeoutError } from './errors.ts';
import { readText } from './json-lines.ts';
import { loadModem } from './modem.ts';
import type { Modem } from './modem.ts';

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

export const USUAL_LIMITS: Limits = { quickMs: 20_000, slowMs: 120_000 };

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
    endpoint,
    limits,
    place: describeEndpoint(endpoint),
    modem: onDemand(() => loadModem(endpoint)),
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
  readonly endpoint: DockerEndpoint;
  readonly limits: Limits;
  readonly place: string;
  readonly modem: () => Promise<Modem>;
}

function onDemand<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => (made ??= make());
}

/** The parsed answer; undefined when it is one of those that are as good as done. */
function exchange(line: Line, call: Call): Promise<unknown> {
  const controller = new AbortController();
  return within(line, call, controller, async () => {
    const response = asResponse(await dial(line, call, controller.signal));
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
    const extra = upload === undefined ? {} : { file: upload };
    const response = asResponse(await dial(line, call, controller.signal, extra));
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
    const answer = await dial(line, call, controller.signal, { hijack: true });
    if (!(answer instanceof IncomingMessage)) return answer;
    throw refusalOf(line, call, answer, await readText(answer));
  });
}

async function within<Result>(
  { limits, place, modem }: Line,
  { what, slow }: Call,
  controller: AbortController,
  work: () => Promise<Result>,
): Promise<Result> {
  const limitMs = slow === true ? limits.slowMs : limits.quickMs;
  // Loading our client takes time that is not the engine's.
  await modem();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(timeoutError({ what, place }, limitMs));
      controller.abort();
    }, limitMs);
  });
  try {
    return await Promise.race([work(), timeout]);
  } catch (error) {
    throw connectionError(error, { what, place });
  } finally {
    clearTimeout(timer);
  }
}

async function dial(line: Line, call: Call, signal: AbortSignal, extra: DialExtra = {}): Promise<Answer> {
  const modem = await line.modem();
  return new Promise((resolve, reject) => {
    modem.dial(dialOptions(call, signal, extra), (error, answer) => {
      if (error === null) resolve(answer as Answer);
      else reject(error);
    });
  });
}

type Answer = IncomingMessage | Duplex;

function asResponse(answer: Answer): IncomingMessage {
  if (answer instanceof IncomingMessage) return answer;
  throw new Error('the engine has changed the protocol unasked');
}

const isRefusal = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 400;
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

interface DialExtra {
  readonly hijack?: true;
  readonly file?: Readable;
}

/** Every answer comes to us as a stream: dockerode's own reader of answers waits for ever when the connection breaks. */
const ANY_STATUS = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [200 + index, true]));

function dialOptions(call: Call, signal: AbortSignal, { hijack, file }: DialExtra): Parameters<Modem['dial']>[0] {
  return {
    path: `${call.path}?`,
    method: call.method,
    options: { _query: call.query ?? {}, _body: call.body ?? {} },
    isStream: true,
    statusCodes: ANY_STATUS,
    abortSignal: signal,
    // An empty file gives a request without a body: what follows a body could be taken for the container's stdin.
    ...(hijack === true ? { hijack, file: Buffer.alloc(0) } : {}),
    ...(file === undefined ? {} : { file }),
  };
}
