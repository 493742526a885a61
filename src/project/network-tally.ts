import { askedFor } from '../egress/target/index.ts';
import { lastLines } from '../logs/index.ts';
import { readRefusal } from '../protocol/index.ts';
import type { Refusal } from '../protocol/index.ts';

/** Only so many lines are read: beyond them the count need not be exact. */
const LINES = 10_000;
const TARGET_LIMIT = 100;

/** What workers of one run asked for and did not get. */
export interface NetworkTally {
  /** Not on the user's allowlist. */
  readonly refused: Tally;
  /** Allowed, but out of reach of the network. */
  readonly unreached: Tally;
}

export interface Tally {
  readonly total: number;
  /** Most often asked for first. */
  readonly targets: readonly TalliedTarget[];
  /** Requests to targets that the proxy did not list one by one. */
  readonly unlisted: number;
}

interface TalliedTarget {
  /** Say "example.com:443". */
  readonly target: string;
  readonly count: number;
  readonly workers: Readonly<Record<string, number>>;
}

/** Counts the requests that the egress proxy has recorded since a time. */
export async function tallyNetwork(file: string, since: string): Promise<NetworkTally> {
  const { lines } = await lastLines(file, LINES, () => true);
  const refusals = lines.flatMap((line) => readRefusal(line) ?? []).filter(({ at }) => at >= since);
  const tallyOf = (wanted: Refusal['result']): Tally => sumUp(refusals.filter(({ result }) => result === wanted));
  return { refused: tallyOf('refused'), unreached: tallyOf('unreached') };
}

function sumUp(refusals: readonly Refusal[]): Tally {
  const targets = new Map<string, Map<number, number>>();
  let [total, unlisted] = [0, 0];
  for (const refusal of refusals) {
    const { worker, count, repeat } = refusal;
    total += count;
    if (repeat === 'others') unlisted += count;
    else {
      const target = askedFor(refusal).slice(0, TARGET_LIMIT);
      const workers = targets.get(target) ?? new Map<number, number>();
      targets.set(target, workers.set(worker, (workers.get(worker) ?? 0) + count));
    }
  }
  const counted = [...targets].map(([target, workers]) => ({
    target,
    count: [...workers.values()].reduce((sum, times) => sum + times, 0),
    workers: Object.fromEntries(workers),
  }));
  return { total, targets: counted.toSorted((one, other) => other.count - one.count), unlisted };
}
