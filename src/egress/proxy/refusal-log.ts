import type { Refusal } from '../../protocol/index.ts';
import type { Refused } from '../target/index.ts';

/** How often counts are written. */
const ROUND_MS = 5000;
/** After so many rounds without a request a target is logged as a new one. */
const FORGET_ROUNDS = 12;
/** How many new targets of one worker are logged in one round, and how many are remembered; the rest is only counted. */
const NEW_IN_ROUND = 20;
const REMEMBERED = 64;

export type RefusalLog = ReturnType<typeof createRefusalLog>;

interface Entry {
  readonly refused: Refused;
  again: number;
  quietRounds: number;
}

/** Each worker has its own, so that one worker cannot use up the room of the others. */
interface Account {
  readonly entries: Map<string, Entry>;
  readonly overflow: Map<Refused['result'], number>;
  newTargets: number;
}

type Logged = Refused & Pick<Refusal, 'repeat' | 'count'>;

/** One record for each new refusal, then counts: a worker that is refused a thousand times a second does not fill the log. */
export function createRefusalLog(write: (line: string) => void) {
  const accounts = new Map<number, Account>();
  const accountOf = (worker: number): Account => {
    const account = accounts.get(worker) ?? { entries: new Map(), overflow: new Map(), newTargets: 0 };
    accounts.set(worker, account);
    return account;
  };
  const line = (worker: number, logged: Logged): void => {
    const refusal: Refusal = { at: new Date().toISOString(), worker, source: 'egress', ...logged };
    write(`${JSON.stringify(refusal)}\n`);
  };
  const flush = (): void => {
    for (const [worker, account] of accounts) for (const logged of sumUp(account)) line(worker, logged);
  };
  const timer = setInterval(flush, ROUND_MS);
  timer.unref();
  return {
    add: (worker: number, refused: Refused): void => {
      const account = accountOf(worker);
      const { result, host, port, reason, address, detail } = refused;
      const key = JSON.stringify([host, port, reason, address, detail]);
      const known = account.entries.get(key);
      if (known !== undefined) {
        known.again += 1;
      } else if (account.newTargets >= NEW_IN_ROUND || account.entries.size >= REMEMBERED) {
        account.overflow.set(result, (account.overflow.get(result) ?? 0) + 1);
      } else {
        account.newTargets += 1;
        account.entries.set(key, { refused, again: 0, quietRounds: 0 });
        line(worker, { ...refused, repeat: 'first', count: 1 });
      }
    },
    /** Writes what was only counted so far; to be called before the proxy ends. */
    flush,
    close: (): void => clearInterval(timer),
  };
}

const OTHERS = { repeat: 'others', host: null, port: null, reason: null, address: null, detail: '' } as const;

/** Ends a round: the counts of what was not logged in it. */
function sumUp(account: Account): Logged[] {
  const again: Logged[] = [];
  for (const [key, entry] of account.entries) {
    entry.quietRounds = entry.again > 0 ? 0 : entry.quietRounds + 1;
    if (entry.again > 0) again.push({ ...entry.refused, repeat: 'again', count: entry.again });
    entry.again = 0;
    if (entry.quietRounds >= FORGET_ROUNDS) account.entries.delete(key);
  }
  const others = [...account.overflow].map(([result, count]): Logged => ({ ...OTHERS, rules: [], result, count }));
  account.newTargets = 0;
  account.overflow.clear();
  return [...again, ...others];
}
