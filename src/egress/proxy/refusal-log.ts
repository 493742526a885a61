import type { Refusal } from '../../protocol/index.ts';
import type { Refused } from '../target/index.ts';

/** Counts come at most so often. */
const ROUND_MS = 5000;
/** A target that was quiet for so many rounds is news again. */
const FORGET_ROUNDS = 12;
/** So much of one worker is logged in one round, and remembered; the rest is only counted. */
const NEWS = 20;
const REMEMBERED = 64;

export interface RefusalLog {
  tell(worker: number, refused: Refused): void;
  /** Tells what has only been counted so far; called when it ends. */
  flush(): void;
  close(): void;
}

interface Entry {
  readonly refused: Refused;
  again: number;
  quietRounds: number;
}

/** Each worker has its own: one that fills it takes nothing from the others. */
interface Account {
  readonly entries: Map<string, Entry>;
  readonly untold: Map<Refused['result'], number>;
  news: number;
}

type Told = Refused & Pick<Refusal, 'repeat' | 'count'>;

/** One record for each new refusal, then counts: a worker that asks a thousand times a second does not fill the log. */
export function createRefusalLog(write: (line: string) => void): RefusalLog {
  const accounts = new Map<number, Account>();
  const accountOf = (worker: number): Account => {
    const account = accounts.get(worker) ?? { entries: new Map(), untold: new Map(), news: 0 };
    accounts.set(worker, account);
    return account;
  };
  const line = (worker: number, told: Told): void => {
    const refusal: Refusal = { at: new Date().toISOString(), worker, source: 'egress', ...told };
    write(`${JSON.stringify(refusal)}\n`);
  };
  const flush = (): void => {
    for (const [worker, account] of accounts) for (const told of sumUp(account)) line(worker, told);
  };
  const timer = setInterval(flush, ROUND_MS);
  timer.unref();
  return {
    tell: (worker, refused) => {
      const account = accountOf(worker);
      const { result, host, port, reason, address, detail } = refused;
      const key = JSON.stringify([host, port, reason, address, detail]);
      const known = account.entries.get(key);
      if (known !== undefined) {
        known.again += 1;
      } else if (account.news >= NEWS || account.entries.size >= REMEMBERED) {
        account.untold.set(result, (account.untold.get(result) ?? 0) + 1);
      } else {
        account.news += 1;
        account.entries.set(key, { refused, again: 0, quietRounds: 0 });
        line(worker, { ...refused, repeat: 'first', count: 1 });
      }
    },
    flush,
    close: () => clearInterval(timer),
  };
}

const OTHERS = { repeat: 'others', host: null, port: null, reason: null, address: null, detail: '' } as const;

/** Ends a round: what has only been counted in it. */
function sumUp(account: Account): Told[] {
  const again: Told[] = [];
  for (const [key, entry] of account.entries) {
    entry.quietRounds = entry.again > 0 ? 0 : entry.quietRounds + 1;
    if (entry.again > 0) again.push({ ...entry.refused, repeat: 'again', count: entry.again });
    entry.again = 0;
    if (entry.quietRounds >= FORGET_ROUNDS) account.entries.delete(key);
  }
  const others = [...account.untold].map(([result, count]): Told => ({ ...OTHERS, rules: [], result, count }));
  account.news = 0;
  account.untold.clear();
  return [...again, ...others];
}
