import { expect, it } from 'vitest';
import { parseGraph } from '../../tasks/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import { fits } from './create-renderer.ts';

function graphOf(...levels: readonly number[]): TaskGraph {
  const tasks = levels.flatMap((count, index) =>
    Array.from({ length: count }, (_, number) => ({ id: `T${index}-${number}`, level: index + 1 })),
  );
  const parsed = parseGraph({ feature: 'f', tasks });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.graph;
}

it.each([
  ['one level that fits', graphOf(30), { columns: 80, rows: 40 }, true],
  ['levels of which each fits, as only one is open', graphOf(30, 30), { columns: 80, rows: 40 }, true],
  ['a level of more tasks than rows', graphOf(40), { columns: 80, rows: 40 }, false],
  ['a terminal that does not know its rows, with few tasks', graphOf(10), { columns: 80, rows: 0 }, true],
  ['a terminal that does not know its rows, with many', graphOf(30), {}, false],
  ['a terminal of no width', graphOf(1), { columns: 0, rows: 40 }, false],
])('a tree of %s', (_, graph, terminal, expected) => {
  expect(fits(graph, terminal)).toBe(expected);
});
