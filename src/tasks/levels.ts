import type { Need } from './dependencies.ts';
import { nameOf } from './draft.ts';
import type { Draft } from './draft.ts';

interface Levels {
  /** By index of the task. */
  readonly levels: readonly number[];
  readonly problems: readonly string[];
}

/**
 * Gives every task its level: the written one, or one above the highest level that it needs. `order` has each task after
 * those that it needs, except in a cycle, which `describeCycles` reports.
 */
export function assignLevels(
  drafts: readonly Draft[],
  needs: readonly (readonly Need[])[],
  order: readonly number[],
): Levels {
  const levels: number[] = [];
  const problems: string[][] = drafts.map(() => []);
  for (const task of order) {
    const { id = '', level = null } = drafts[task] ?? {};
    const below = (needs[task] ?? []).map((need) => ({ ...need, level: levels[need.task] ?? 0 }));
    const lowest = 1 + below.reduce((highest, need) => Math.max(highest, need.level), 0);
    levels[task] = level ?? lowest;
    if (level === null || level >= lowest) continue;
    const name = nameOf(id, task);
    const tooHigh = below.filter((need) => need.level >= level);
    problems[task] = tooHigh.map((need) => {
      const needed = nameOf(drafts[need.task]?.id ?? '', need.task);
      const fix = `give ${name} level ${lowest} or higher, or remove the dependency`;
      return `${need.at}: ${needed} is in level ${need.level}, not below level ${level} of ${name}; ${fix}`;
    });
  }
  return { levels, problems: problems.flat() };
}
