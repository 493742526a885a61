import { EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { createByteLines, readJson, within } from '../lib/index.ts';
import { createRedactor } from '../logs/index.ts';
import type { Redactor } from '../logs/index.ts';
import { credentials } from '../protocol/index.ts';
import type { Credentials } from '../protocol/index.ts';

/** Long: they come when the worker's start is over, and that may have to wait for the run's way out. */
const LIMIT_MS = 300_000;

/** What comes on stdin after the handover: what the agent proves itself with, for one attempt at a time. */
export interface CredentialsInbox {
  /** Given out once. "none" when stdin ends before it comes, when it does not come, or when the signal fires. */
  take(attempt: string, stop: AbortSignal): Promise<Credentials['agent'] | 'none'>;
  /** The attempt is over: nothing of what came for it is kept. */
  forget(attempt: string): void;
  /** Takes out the secrets of the attempt at work, and those that the worker has from its start. */
  readonly redact: Redactor;
}

type Held = Pick<Credentials, 'attempt' | 'secrets'> & { readonly agent: Credentials['agent'] | undefined };

interface Limits {
  readonly limitBytes: number;
  readonly limitMs?: number;
}

/** Makes nothing flow: what comes is read once the worker listens to its stdin. */
export function openCredentialsInbox(stdin: Readable, secrets: readonly string[], limits: Limits): CredentialsInbox {
  const news = new EventEmitter();
  let held: Held | undefined;
  let redact = createRedactor(secrets);
  let ended = stdin.readableEnded || stdin.destroyed;
  const hold = (value: Held | undefined): void => {
    held = value;
    redact = createRedactor([...secrets, ...(value?.secrets ?? [])]);
  };
  const lines = createByteLines((text) => {
    // What is no such line is passed over: to say what is wrong with it might quote it.
    for (const line of text.split('\n')) hold(readJson(credentials, line) ?? held);
    news.emit('news');
  }, limits.limitBytes);
  const end = (): void => {
    ended = true;
    news.emit('news');
  };
  stdin.on('data', lines.push);
  for (const event of ['end', 'close', 'error']) stdin.on(event, end);
  const isDecided = (attempt: string): boolean => ended || held?.attempt === attempt;
  const arrival = async (attempt: string, signal: AbortSignal): Promise<void> => {
    while (!isDecided(attempt) && !signal.aborted) await once(news, 'news', { signal });
  };
  return {
    take: async (attempt, stop) => {
      const over = new AbortController();
      await within(limits.limitMs ?? LIMIT_MS, arrival(attempt, over.signal), stop);
      over.abort();
      if (held?.attempt !== attempt) return 'none';
      const { agent } = held;
      held = { ...held, agent: undefined };
      return agent ?? 'none';
    },
    forget: (attempt) => {
      if (held?.attempt === attempt) hold(undefined);
    },
    redact: (text) => redact(text),
  };
}
