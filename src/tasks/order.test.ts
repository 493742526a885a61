import { describe, expect, it } from 'vitest';
import type { TaskGraph } from './graph.ts';
import { dependentsOf, longestFirst } from './order.ts';
import { parseGraph } from './parse-graph.ts';

type Row = readonly [id: string, minutes: number | null, ...dependencies: string[]];

function graphOf(...rows: readonly Row[]): TaskGraph {
  const tasks = rows.map(([id, estimate_minutes, ...dependencies]) => ({ id, estimate_minutes, dependencies }));
  const parsed = parseGraph({ feature: 'login', tasks });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.graph;
}

describe('dependentsOf', () => {
  const graph = graphOf(['D', 1, 'B', 'C'], ['A', 1], ['B', 1, 'A'], ['C', 1, 'A'], ['E', 1]);
  it.each([
    ['A', ['D', 'B', 'C']],
    ['B', ['D']],
    ['E', []],
    ['unknown', []],
  ])('%s', (id, expected) => {
    expect(dependentsOf(graph, id)).toEqual(expected);
  });
});

const ordered = (graph: TaskGraph): string[] => longestFirst(graph).map(({ id }) => id);

describe('longestFirst', () => {
  it('puts the longest first, then what most tasks wait for, then what comes first in the graph', () => {
    const graph = graphOf(['A', 5], ['B', 20], ['C', 5], ['D', 5], ['E', 1, 'D'], ['F', 1, 'E'], ['G', 1, 'C']);
    expect(ordered(graph)).toEqual(['B', 'D', 'C', 'A', 'E', 'F', 'G']);
  });

  it('counts a task without an estimate as the median', () => {
    const graph = graphOf(['A', null], ['B', 10], ['C', 30], ['D', 20], ['E', 40]);
    expect(ordered(graph)).toEqual(['E', 'C', 'A', 'D', 'B']);
  });

  it('keeps the order of the graph without any estimate', () => {
    expect(ordered(graphOf(['A', null], ['B', null]))).toEqual(['A', 'B']);
  });
});
