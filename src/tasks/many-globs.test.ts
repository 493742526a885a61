import { expect, it } from 'vitest';
import { parseGraph } from './parse-graph.ts';

/** No two of them mean the same file, and each must be compared with all others. */
const tasks = Array.from({ length: 20 }, (_, n) => ({
  id: `T${n}`,
  files: { create: Array.from({ length: 500 }, (_, glob) => `*.${n}-${glob}`) },
}));

it('a graph with so many globs that comparing them would take minutes is refused, or not compared where files may be shared', () => {
  const graph = { feature: 'login', tasks };
  const told = [expect.stringMatching(/^tasks: too many globs/)];
  expect(parseGraph(graph)).toMatchObject({ ok: false, problems: told });
  expect(parseGraph(graph, 'warn')).toMatchObject({ ok: true, warnings: told });
  expect(parseGraph({ ...graph, tasks: tasks.slice(0, 8) })).toMatchObject({ ok: true, warnings: [] });
});
