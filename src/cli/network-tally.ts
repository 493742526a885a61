import { lastLines } from '../logs/index.ts';
import { readLogLine } from '../protocol/index.ts';

/** A run that is refused more has said what it has to say; older lines are not looked at. */
const LINES = 10_000;
const TARGET_LIMIT = 100;

/** What workers of one run asked for and did not get. */
export interface NetworkTally {
  /** Not on the user's allowlist. */
  readonly refused: Tally;
  /** On it, but the network did not lead there. */
  readonly unreached: Tally;
}

export interface Tally {
  readonly total: number;
  /** Most often asked for first. */
  readonly targets: readonly TalliedTarget[];
  /** Of the total, those whose targets were too many to be listed. */
  readonly unlisted: number;
}

interface TalliedTarget {
  /** Say "example.com:443". */
  readonly target: string;
  readonly count: number;
  readonly workers: Readonly<Record<string, number>>;
}

/** Counts what the egress proxy has written since then. */
export async function tallyNetwork(file: string, since: string): Promise<NetworkTally> {
  const { lines } = await lastLines(file, LINES, () => true);
  const failures = lines.flatMap((line) => readFailure(line, since) ?? []);
  const tallyOf = (wanted: Failure['how']): Tally => sumUp(failures.filter(({ how }) => how === wanted));
  return { refused: tallyOf('refused'), unreached: tallyOf('could not reach') };
}

function sumUp(failures: readonly Failure[]): Tally {
  const targets = new Map<string, Map<number, number>>();
  let [total, unlisted] = [0, 0];
  for (const { worker, target, times } of failures) {
    total += times;
    if (target === null) unlisted += times;
    else {
      const workers = targets.get(target) ?? new Map<number, number>();
      targets.set(target, workers.set(worker, (workers.get(worker) ?? 0) + times));
    }
  }
  const counted = [...targets].map(([target, workers]) => ({
    target,
    count: [...workers.values()].reduce((sum, times) => sum + times, 0),
    workers: Object.fromEntries(workers),
  }));
  return { total, targets: counted.toSorted((one, other) => other.count - one.count), unlisted };
}

interface Failure {
  readonly how: 'refused' | 'could not reach';
  readonly worker: number;
  /** Null for many different ones. */
  readonly target: string | null;
  readonly times: number;
}

const FAILURE =
  /^(?<how>refused|could not reach) (?:more that is not listed here|(?<target>\S+?))(?:(?: again)?, (?<times>\d{1,9}) times?$|: )/;

/** A line has passed through a container: it is taken for text, and nothing else in it for true. */
function readFailure(line: string, since: string): Failure | undefined {
  const read = readLogLine(line);
  if (read?.source !== 'egress' || read.at < since) return undefined;
  const found = FAILURE.exec(read.text)?.groups;
  if (found === undefined) return undefined;
  const { how, target, times = '1' } = found;
  const named = target === undefined ? null : target.slice(0, TARGET_LIMIT);
  return { how: how === 'refused' ? how : 'could not reach', worker: read.worker, target: named, times: Number(times) };
}
