import { EventEmitter, once } from 'node:events';
import type { Readable } from 'node:stream';
import { createByteLines, readJson, within } from '../lib/index.ts';
import { createRedactor } from '../logs/index.ts';
import type { Redactor } from '../logs/index.ts';
import { credentials } from '../protocol/index.ts';
import type { Credentials } from '../protocol/index.ts';

/** Long, because they come after the worker's start, and that may wait for the egress proxy. */
const LIMIT_MS = 300_000;

/** Reads credentials from stdin, after the handover: one line for each attempt. */
export interface CredentialsInbox {
  /** Given out once. "none" when stdin ends before it comes, when it does not come, or when the signal fires. */
  take(attempt: string, stop: AbortSignal): Promise<Credentials['agent'] | 'none'>;
  /** To be called when the attempt is over: its credentials are dropped. */
  forget(attempt: string): void;
  /** Removes the secrets of the current attempt, and those of the handover. */
  readonly redact: Redactor;
}

type Held = Pick<Credentials, 'attempt' | 'secrets'> & { readonly agent: Credentials['agent'] | undefined };

interface Limits {
  readonly limitBytes: number;
  readonly limitMs?: number;
}

/** Does not resume the stream: that is done when the worker listens to its stdin. */
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
    // Any other line is ignored: an error might quote it.
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
