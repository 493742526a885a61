import type { Need } from './dependencies.ts';
import { nameOf } from './draft.ts';
import type { Draft } from './draft.ts';
import { MANY, place } from './words.ts';

interface Levels {
  /** By index of the task. */
  readonly levels: readonly number[];
  readonly warnings: readonly string[];
}

/** The level of a task that names none: one above the highest level that it needs. */
export function levelWithout(needs: readonly Need[], levels: readonly number[]): number {
  return Math.max(1, lowestLevel(needs, levels));
}

const lowestLevel = (needs: readonly Need[], levels: readonly number[]): number =>
  needs.reduce((lowest, need) => Math.max(lowest, (levels[need.task] ?? 0) + 1), 0);

/**
 * Gives every task its level: the written one, or the lowest that it may have. A written one that is lower is raised: the
 * dependency says what is meant. `order` has each task after those that it needs, except in a cycle, which
 * `describeCycles` reports.
 */
export function assignLevels(
  drafts: readonly Draft[],
  needs: readonly (readonly Need[])[],
  order: readonly number[],
): Levels {
  const levels: number[] = [];
  const raised: [task: number, warning: string][] = [];
  for (const task of order) {
    const written = drafts[task]?.level ?? null;
    const own = needs[task] ?? [];
    const lowest = lowestLevel(own, levels);
    levels[task] = Math.max(written ?? levelWithout(own, levels), lowest);
    if (written === null || written >= lowest) continue;
    const highest = own.find((need) => levels[need.task] === lowest - 1)?.task ?? task;
    const needed = `${nameOf(drafts[highest]?.id ?? '', highest)} of level ${lowest - 1}`;
    const name = nameOf(drafts[task]?.id ?? '', task);
    const at = place(['tasks', task, 'level']);
    raised.push([task, `${at}: ${name} has level ${written} and needs ${needed}, so it runs in level ${lowest}`]);
  }
  const warnings = raised.toSorted(([one], [other]) => one - other).map(([, warning]) => warning);
  const zero = levels.includes(0) ? ['tasks: level 0 counts as the first level'] : [];
  return { levels, warnings: [...zero, ...warnings.slice(0, MANY)] };
}
