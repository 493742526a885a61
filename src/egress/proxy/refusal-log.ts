import type { LogLine } from '../../protocol/index.ts';

/** Counts come at most so often. */
const ROUND_MS = 5000;
/** A target that was quiet for so many rounds is news again. */
const FORGET_ROUNDS = 12;
/** So much of one worker is told in one round, and remembered; the rest is only counted. */
const NEWS = 20;
const REMEMBERED = 64;
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
  readonly what: string;
  again: number;
  quietRounds: number;
}

/** Each worker has its own: one that fills it takes nothing from the others. */
interface Account {
  readonly entries: Map<string, Entry>;
  readonly untold: Map<Failing, number>;
  news: number;
}

/** One line for each new refusal, then counts: whoever knocks a thousand times a second does not fill the log. */
export function createRefusalLog(write: (line: string) => void): RefusalLog {
  const accounts = new Map<number, Account>();
  const accountOf = (worker: number): Account => {
    const account = accounts.get(worker) ?? { entries: new Map(), untold: new Map(), news: 0 };
    accounts.set(worker, account);
    return account;
  };
  const line = (worker: number, text: string): void => {
    const entry: LogLine = { at: new Date().toISOString(), worker, source: 'egress', text };
    write(`${JSON.stringify(entry)}\n`);
  };
  const flush = (): void => {
    for (const [worker, account] of accounts) for (const text of sumUp(account)) line(worker, text);
  };
  const timer = setInterval(flush, ROUND_MS);
  timer.unref();
  return {
    tell: (worker, how, target, reason) => {
      const account = accountOf(worker);
      const what = printable(`${how} ${target}`);
      const key = `${what} ${reason}`;
      const known = account.entries.get(key);
      if (known !== undefined) {
        known.again += 1;
      } else if (account.news >= NEWS || account.entries.size >= REMEMBERED) {
        account.untold.set(how, (account.untold.get(how) ?? 0) + 1);
      } else {
        account.news += 1;
        account.entries.set(key, { what, again: 0, quietRounds: 0 });
        line(worker, `${what}: ${printable(reason)}`);
      }
    },
    flush,
    close: () => clearInterval(timer),
  };
}

/** Ends a round: what has only been counted in it. */
function sumUp(account: Account): string[] {
  const again: string[] = [];
  for (const [key, entry] of account.entries) {
    entry.quietRounds = entry.again > 0 ? 0 : entry.quietRounds + 1;
    if (entry.again > 0) again.push(`${entry.what} again, ${times(entry.again)}`);
    entry.again = 0;
    if (entry.quietRounds >= FORGET_ROUNDS) account.entries.delete(key);
  }
  const more = [...account.untold].map(([how, count]) => `${how} more that is not listed here, ${times(count)}`);
  account.news = 0;
  account.untold.clear();
  return [...again, ...more];
}

const times = (count: number): string => `${count} ${count === 1 ? 'time' : 'times'}`;

/** What a client said, as text that does nothing to a terminal and is not long. */
export function printable(text: string): string {
  const cut = text.length > TEXT_LIMIT ? `${text.slice(0, TEXT_LIMIT)}…` : text;
  return cut.replaceAll(/[^\u0020-\u007e…]/g, '?');
}
