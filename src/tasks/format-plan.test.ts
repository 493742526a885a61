import { expect, it } from 'vitest';
import { formatPlan } from './format-plan.ts';
import { parseGraph } from './parse-graph.ts';

function plan(value: unknown, workers: number, gates: Parameters<typeof formatPlan>[1]['gates'] = []): string[] {
  const parsed = parseGraph(value);
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return formatPlan(parsed.graph, { workers, ownership: 'enforce', gates });
}

it('the plan has one line for each level and task', () => {
  const text = plan(
    {
      feature: 'login',
      tasks: [
        { id: 'LOGIN-L1-001', title: 'Types', files: { create: ['src/types.ts'] }, estimate_minutes: 15 },
        { id: 'LOGIN-L1-002', title: 'Config', files: { create: ['src/config.ts'] }, run: 'npm run config' },
        {
          id: 'LOGIN-L2-001',
          title: 'Service',
          files: { modify: ['a', 'b', 'c', 'd', 'e'] },
          dependencies: ['LOGIN-L1-001', 'LOGIN-L1-002'],
        },
        { id: 'LOGIN-L2-002', title: 'Check', dependencies: ['LOGIN-L1-001'] },
      ],
    },
    1,
    [
      { name: 'build', required: true },
      { name: 'lint', required: false },
    ],
  );
  expect(text).toEqual([
    'Feature login: 4 tasks in 2 levels, 1 worker, ownership enforce',
    'Level 1 (2 tasks, 1 at a time)',
    '├─ LOGIN-L1-001  Types    writes src/types.ts        agent, ~15 min',
    '└─ LOGIN-L1-002  Config   writes src/config.ts       runs npm run config',
    'Level 2 (2 tasks, 1 at a time)',
    '├─ LOGIN-L2-001  Service  writes a, b, c and 2 more  agent                needs LOGIN-L1-001, LOGIN-L1-002',
    '└─ LOGIN-L2-002  Check    writes nothing             agent                needs LOGIN-L1-001',
    'After each level: merge, then gates: build (required), lint',
    'Time with 1 worker: level 1 from minute 0 to 25, level 2 from minute 25 to 45 (tasks without "estimate_minutes" count as 10)',
  ]);
});

it('the plan has nothing that a terminal would obey', () => {
  const text = plan({ feature: 'x', tasks: [{ id: 'A', title: 'one\ntwo \u001B[31mred\u009B', level: 3 }] }, 4);
  expect(text).toEqual([
    'Feature x: 1 task in 1 level, 4 workers, ownership enforce',
    'Level 3 (1 task)',
    '└─ A  one two [31mred  writes nothing  agent',
    'After each level: merge',
    'Time with 4 workers: level 3 from minute 0 to 10 (tasks without "estimate_minutes" count as 10)',
  ]);
});
