import type { Readable } from 'node:stream';
import { createByteLines, readJson, sleep, startTimer } from '../lib/index.ts';
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

/** Makes nothing flow: what comes is read once the worker listens to its stdin. */
export function openCredentialsInbox(
  stdin: Readable,
  secrets: readonly string[],
  { limitBytes, limitMs = LIMIT_MS }: { readonly limitBytes: number; readonly limitMs?: number },
): CredentialsInbox {
  let held: Held | undefined;
  let redact = createRedactor(secrets);
  let ended = stdin.readableEnded || stdin.destroyed;
  let news = new AbortController();
  const hold = (value: Held | undefined): void => {
    held = value;
    redact = createRedactor([...secrets, ...(value?.secrets ?? [])]);
  };
  const lines = createByteLines((text) => {
    // What is no such line is passed over: to say what is wrong with it might quote it.
    for (const line of text.split('\n')) hold(readJson(credentials, line) ?? held);
    news.abort();
  }, limitBytes);
  const end = (): void => {
    ended = true;
    news.abort();
  };
  const hasEnded = (): boolean => ended;
  const isHeld = (attempt: string): boolean => held?.attempt === attempt;
  stdin
    .on('data', (chunk: Buffer) => lines.push(chunk))
    .on('end', end)
    .on('close', end)
    .on('error', end);
  return {
    take: async (attempt, stop) => {
      const late = new AbortController();
      const timer = startTimer(limitMs, () => late.abort());
      const over = AbortSignal.any([late.signal, stop]);
      while (!isHeld(attempt) && !hasEnded() && !over.aborted) {
        news = new AbortController();
        await sleep(limitMs, AbortSignal.any([news.signal, over]));
      }
      timer.cancel();
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
