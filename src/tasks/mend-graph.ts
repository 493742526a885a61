import { listed } from '../lib/text/words.ts';
import { nameOf } from './draft.ts';
import { examineGraph } from './examine-graph.ts';
import type { Examined } from './examine-graph.ts';
import { levelWithout } from './levels.ts';
import type { Ownership } from './shared-files.ts';

/** A level that is to be written into the file. */
export interface Mend {
  /** Its index in the file. */
  readonly task: number;
  readonly id: string;
  /** Null when the file gives it none. */
  readonly from: number | null;
  readonly to: number;
  readonly cause: string;
}

interface Mending {
  readonly mends: readonly Mend[];
  /** What only a person can mend. */
  readonly problems: readonly string[];
}

/** Levels that are raised by dependencies, and levels that keep tasks with the same file apart. */
export function mendGraph(value: unknown, ownership: Ownership): Mending {
  const examined = examineGraph(value, ownership);
  const { problems, shared } = examined;
  if (problems.length > 0 || shared.order === undefined)
    return { mends: [], problems: [...problems, ...(shared.order === undefined ? shared.problems : [])] };
  const { levels } = shared.order;
  const mends = examined.drafts.flatMap(({ id, level }, task): Mend[] => {
    const to = levels[task] ?? 0;
    const given = level ?? levelWithout(examined.needs[task] ?? [], levels);
    return given === to ? [] : [{ task, id, from: level, to, cause: causeOf(examined, task, levels) }];
  });
  return { mends, problems: [] };
}

function causeOf({ drafts, needs, shared }: Examined, task: number, levels: readonly number[]): string {
  const push = shared.order?.pushed.get(task);
  if (push !== undefined) return `it shares files with ${nameOf(drafts[push.rival]?.id ?? '', push.rival)}`;
  const highest = Math.max(...(needs[task] ?? []).map((need) => levels[need.task] ?? 0));
  const needed = (needs[task] ?? []).filter((need) => levels[need.task] === highest);
  return `it needs ${listed(
    needed.map((need) => nameOf(drafts[need.task]?.id ?? '', need.task)),
    3,
  )} of level ${highest}`;
}
