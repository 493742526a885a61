import type { Need } from './dependencies.ts';

/** A task that had to leave a level. */
export interface Push {
  /** The task that stays there. */
  readonly rival: number;
  readonly level: number;
}

interface Order {
  /** By index of the task. */
  readonly levels: readonly number[];
  /** The last push of each pushed task. */
  readonly pushed: ReadonlyMap<number, Push>;
}

/**
 * Puts tasks that must not share a level into different ones: in each level those that were there at first stay, in the
 * order of the graph, and a rival of one that stays goes up, with all that need it.
 */
export function orderLevels(
  levels: readonly number[],
  needs: readonly (readonly Need[])[],
  rivals: ReadonlyMap<number, readonly number[]>,
): Order {
  const { settled, membersOf, raise } = ladder(levels, needs);
  const pushed = new Map<number, Push>();
  let left = levels.length;
  for (let level = levels.reduce((lowest, one) => Math.min(lowest, one), Infinity); left > 0; level++) {
    const isNew = (task: number): number => (levels[task] === level ? 0 : 1);
    const stays = new Set<number>();
    for (const task of membersOf(level).toSorted((one, other) => isNew(one) - isNew(other) || one - other)) {
      const rival = rivals.get(task)?.find((other) => stays.has(other));
      if (rival === undefined) {
        stays.add(task);
        left -= 1;
      } else {
        pushed.set(task, { rival, level });
        raise(task, level + 1);
      }
    }
  }
  return { levels: settled, pushed };
}

/** Tasks by level; one that goes up takes along what needs it. */
function ladder(levels: readonly number[], needs: readonly (readonly Need[])[]) {
  const settled = [...levels];
  const waiters = levels.map((): number[] => []);
  for (const [task, own] of needs.entries()) for (const need of own) waiters[need.task]?.push(task);
  const steps = new Map<number, number[]>();
  const put = (task: number, level: number): void => {
    const step = steps.get(level) ?? [];
    step.push(task);
    steps.set(level, step);
  };
  for (const [task, level] of levels.entries()) put(task, level);
  return {
    settled,
    membersOf: (level: number): readonly number[] => (steps.get(level) ?? []).filter((task) => settled[task] === level),
    raise: (start: number, to: number): void => {
      const open = [{ task: start, to }];
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if ((settled[next.task] ?? 0) >= next.to) continue;
        settled[next.task] = next.to;
        put(next.task, next.to);
        for (const task of waiters[next.task] ?? []) open.push({ task, to: next.to + 1 });
      }
    },
  };
}
