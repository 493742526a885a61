import type { LogLine } from '../protocol/index.ts';

/** Counts come at most so often. */
const ROUND_MS = 5000;
/** A target that was quiet for so many rounds is news again. */
const FORGET_ROUNDS = 12;
/** So much is told in one round, and remembered; the rest is only counted. */
const NEWS = { perWorker: 20, all: 60 };
const REMEMBERED = 256;
const TEXT_LIMIT = 300;

/** By the user's own list, or by a network in which the target does not answer. */
export type Failing = 'refused' | 'could not reach';

export interface RefusalLog {
  /** Say that "example.com:443" was "refused", and why. */
  tell(worker: number, how: Failing, target: string, reason: string): void;
  /** Tells what has only been counted so far; called when it ends. */
  flush(): void;
  close(): void;
}

interface Entry {
  readonly worker: number;
  readonly what: string;
  again: number;
  quietRounds: number;
}

/** One line for each new refusal, then counts: whoever knocks a thousand times a second does not fill the log. */
export function createRefusalLog(write: (line: string) => void): RefusalLog {
  const entries = new Map<string, Entry>();
  const news = new Map<number, number>();
  const untold = new Map<string, { readonly worker: number; readonly how: Failing; times: number }>();
  let told = 0;

  const line = (worker: number, text: string): void => {
    const entry: LogLine = { at: new Date().toISOString(), worker, source: 'egress', text };
    write(`${JSON.stringify(entry)}\n`);
  };
  const flush = (): void => {
    for (const [key, entry] of entries) {
      entry.quietRounds = entry.again > 0 ? 0 : entry.quietRounds + 1;
      if (entry.again > 0) line(entry.worker, `${entry.what} again, ${times(entry.again)}`);
      entry.again = 0;
      if (entry.quietRounds >= FORGET_ROUNDS) entries.delete(key);
    }
    for (const more of untold.values())
      line(more.worker, `${more.how} more that is not listed here, ${times(more.times)}`);
    news.clear();
    untold.clear();
    told = 0;
  };
  const count = (worker: number, how: Failing): void => {
    const key = `${worker} ${how}`;
    const known = untold.get(key);
    if (known !== undefined) known.times += 1;
    else if (untold.size < NEWS.all) untold.set(key, { worker, how, times: 1 });
  };
  const timer = setInterval(flush, ROUND_MS);
  timer.unref();
  return {
    tell: (worker, how, target, reason) => {
      const what = printable(`${how} ${target}`);
      const key = `${worker} ${what} ${reason}`;
      const known = entries.get(key);
      if (known !== undefined) {
        known.again += 1;
        return;
      }
      const own = news.get(worker) ?? 0;
      if (own >= NEWS.perWorker || told >= NEWS.all || entries.size >= REMEMBERED) return count(worker, how);
      news.set(worker, own + 1);
      told += 1;
      entries.set(key, { worker, what, again: 0, quietRounds: 0 });
      line(worker, `${what}: ${printable(reason)}`);
    },
    flush,
    close: () => clearInterval(timer),
  };
}

const times = (count: number): string => `${count} ${count === 1 ? 'time' : 'times'}`;

/** What a client said, as text that does nothing to a terminal and is not long. */
export function printable(text: string): string {
  const cut = text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)}…` : text;
  return cut.replaceAll(/[^\u0020-\u007e…]/g, '?');
}
