export interface BudgetLimits {
  /** How many connections of a worker may be under examination or refused before the next one waits. */
  readonly most: number;
  /** How many more each second. */
  readonly perSecond: number;
}

interface Account {
  left: number;
  at: number;
  readonly waiting: (() => void)[];
  timer: NodeJS.Timeout | undefined;
}

/** A worker whose requests are refused waits longer and longer; other workers do not wait. */
export function createBudget({ most, perSecond }: BudgetLimits, now = (): number => performance.now()) {
  const accounts = new Map<number, Account>();
  const accountOf = (worker: number): Account => {
    const account = accounts.get(worker) ?? { left: most, at: now(), waiting: [], timer: undefined };
    accounts.set(worker, account);
    account.left = Math.min(most, account.left + ((now() - account.at) / 1000) * perSecond);
    account.at = now();
    return account;
  };
  const admit = (worker: number): void => {
    const account = accountOf(worker);
    clearTimeout(account.timer);
    account.timer = undefined;
    while (account.left >= 1) {
      const examine = account.waiting.shift();
      if (examine === undefined) return;
      account.left -= 1;
      examine();
    }
    if (account.waiting.length === 0) return;
    account.timer = setTimeout(() => admit(worker), Math.ceil(((1 - account.left) / perSecond) * 1000));
    account.timer.unref();
  };
  const spend = (worker: number, amount: number): void => {
    const account = accountOf(worker);
    account.left = Math.min(most, Math.max(-most, account.left - amount));
    if (amount < 0) admit(worker);
  };
  return {
    /** Calls `examine` when one more connection of the worker may be examined: at once, or in its turn. */
    enter: (worker: number, examine: () => void): void => {
      accountOf(worker).waiting.push(examine);
      admit(worker);
    },
    /** A connection was let through, and does not count. */
    giveBack: (worker: number): void => spend(worker, -1),
    /** A connection counts once more. */
    charge: (worker: number): void => spend(worker, 1),
  };
}

/** At most `most` works of one worker at a time; the others wait. */
export function createTurns(most: number): <Result>(worker: number, work: () => Promise<Result>) => Promise<Result> {
  const busy = new Map<number, number>();
  const waiting = new Map<number, (() => void)[]>();
  return async (worker, work) => {
    const count = busy.get(worker) ?? 0;
    if (count >= most) {
      await new Promise<void>((resolve) => waiting.set(worker, [...(waiting.get(worker) ?? []), resolve]));
    } else busy.set(worker, count + 1);
    try {
      return await work();
    } finally {
      // The place goes to the next, or is free.
      const next = waiting.get(worker)?.shift();
      if (next === undefined) busy.set(worker, (busy.get(worker) ?? 1) - 1);
      else next();
    }
  };
}
