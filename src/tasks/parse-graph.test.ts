import { describe, expect, it } from 'vitest';
import { parseGraph } from './parse-graph.ts';
import { taskGraphJsonSchema } from './schema.ts';

/** As the ancestor writes it, with every field that was seen in its graphs. */
const ANCESTORS = {
  feature: 'user-auth',
  version: '2.0',
  generated: '2026-01-29T10:00:00Z',
  total_tasks: 2,
  estimated_duration_minutes: 45,
  max_parallelization: 2,
  critical_path: ['USER-L1-001'],
  critical_path_minutes: 30,
  tasks: [
    {
      id: 'USER-L1-001',
      title: 'Define types',
      description: 'Types of the domain.',
      phase: 'foundation',
      level: 1,
      dependencies: [],
      files: { create: ['src/auth/types.py'], modify: [], read: ['src/db.py'] },
      acceptance_criteria: ['It imports'],
      verification: { command: 'python -m pytest tests/x.py -q', timeout_seconds: 60 },
      estimate_minutes: 15,
      critical_path: true,
      consumers: ['USER-L2-001'],
      integration_test: 'tests/integration/test_auth.py',
      context: 'Use dataclasses.',
      skills_required: ['python'],
      steps: [{ step: 1, action: 'write_test', file: 'a', code_snippet: 'b', run: 'c', verify: 'exit_code' }],
      status: 'todo',
    },
    {
      id: 'USER-L2-001',
      title: 'Service',
      level: 2,
      dependencies: ['USER-L1-001'],
      files: { modify: ['src/auth/types.py'] },
    },
  ],
  levels: {
    '1': { name: 'foundation', tasks: ['USER-L1-001'], parallel: true, estimated_minutes: 15, depends_on_levels: [] },
  },
  conflict_matrix: {},
};

const EMPTY_TASK = {
  title: 'A',
  description: '',
  level: 1,
  dependencies: [],
  files: { create: [], modify: [], delete: [], read: [] },
  acceptanceCriteria: [],
  context: '',
  verification: null,
  run: null,
  attempts: null,
  satisfied: false,
  agent: null,
  model: null,
  estimateMinutes: null,
};

const graph = (...tasks: readonly unknown[]) => ({ feature: 'login', tasks });

function problemsOf(value: unknown): readonly string[] {
  const parsed = parseGraph(value);
  return parsed.ok ? [] : parsed.problems;
}

/** "A:1<B,C" is task A of level 1 that needs B and C; without ":1" the level is left out. */
function tasksOf(text: string): unknown[] {
  return text.split(' ').map((word) => {
    const [, id, level, needs] = /^(\w+)(?::(\d+))?(?:<(.+))?$/.exec(word) ?? [];
    return { id, ...(level === undefined ? {} : { level: Number(level) }), dependencies: needs?.split(',') ?? [] };
  });
}

function levelsOf(text: string): string {
  const parsed = parseGraph(graph(...tasksOf(text)));
  return parsed.ok
    ? parsed.graph.tasks.map((task) => `${task.id}:${task.level}`).join(' ')
    : parsed.problems.join('\n');
}

describe('a good graph', () => {
  it('with all keys of other writers loads without a warning', () => {
    const parsed = parseGraph(ANCESTORS);
    expect(parsed).toEqual({
      ok: true,
      warnings: [],
      graph: {
        feature: 'user-auth',
        levels: [1, 2],
        tasks: [
          {
            id: 'USER-L1-001',
            title: 'Define types',
            description: 'Types of the domain.',
            level: 1,
            dependencies: [],
            files: { create: ['src/auth/types.py'], modify: [], delete: [], read: ['src/db.py'] },
            acceptanceCriteria: ['It imports'],
            context: 'Use dataclasses.',
            verification: { command: 'python -m pytest tests/x.py -q', timeoutMs: 60_000 },
            run: null,
            attempts: null,
            satisfied: false,
            agent: null,
            model: null,
            estimateMinutes: 15,
          },
          {
            ...EMPTY_TASK,
            id: 'USER-L2-001',
            title: 'Service',
            level: 2,
            dependencies: ['USER-L1-001'],
            files: { create: [], modify: ['src/auth/types.py'], delete: [], read: [] },
          },
        ],
      },
    });
  });

  it('needs no more than a feature and an id', () => {
    const nothing = { title: null, description: null, level: null, dependencies: null, files: null, context: null };
    const last = { estimate_minutes: null, attempts: null, satisfied: null, requirements: null };
    const more = { acceptance_criteria: null, verification: null, run: null, ...last };
    const expected = {
      ok: true,
      warnings: [],
      graph: { feature: 'login', levels: [1], tasks: [{ ...EMPTY_TASK, id: 'A' }] },
    };
    expect(parseGraph(graph({ id: 'A' }))).toEqual(expected);
    expect(parseGraph(graph({ id: 'A', ...nothing, ...more }))).toEqual(expected);
    expect(parseGraph(graph({ id: 'A', files: { create: null, modify: null, delete: null, read: null } }))).toEqual(
      expected,
    );
  });

  it('has a limit of two minutes for verification by default', () => {
    const parsed = parseGraph(graph({ id: 'A', verification: { command: 'make', timeout_seconds: null } }));
    expect(parsed.ok && parsed.graph.tasks[0]?.verification).toEqual({ command: 'make', timeoutMs: 120_000 });
  });
});

describe('levels', () => {
  it.each([
    ['A B<A C<B D<A', 'A:1 B:2 C:3 D:2'],
    ['C<B B<A A', 'C:3 B:2 A:1'],
    ['A:5 B<A', 'A:5 B:6'],
    ['A:1 B:3<A', 'A:1 B:3'],
    ['A B<A C:7<B D<C,A', 'A:1 B:2 C:7 D:8'],
    ['A:4 B', 'A:4 B:1'],
    ['A:0 B:1 C:2', 'A:0 B:1 C:2'],
    ['A:0 B C<A D<B', 'A:0 B:1 C:1 D:2'],
    ['A:1 B:1<A', 'A:1 B:2'],
    ['A:3 B<A C:2<A,B', 'A:3 B:4 C:5'],
    ['A:2 B:1<A C:1<B', 'A:2 B:3 C:4'],
  ])('%s gives %s', (text, expected) => {
    expect(levelsOf(text)).toBe(expected);
  });

  it('are sorted, with gaps', () => {
    const parsed = parseGraph(graph(...tasksOf('A:9 B:1 C:3 D:3')));
    expect(parsed.ok && parsed.graph.levels).toEqual([1, 3, 9]);
  });

  it('that are too low for the dependencies are raised, with a note for each', () => {
    const parsed = parseGraph(graph(...tasksOf('C:2<A,B A:3 B<A D:3<A')));
    expect(parsed.warnings).toEqual([
      'tasks[0].level: "C" has level 2 and needs "B" of level 4, so it runs in level 5',
      'tasks[3].level: "D" has level 3 and needs "A" of level 3, so it runs in level 4',
    ]);
  });

  it('may begin with 0, with a note', () => {
    expect(parseGraph(graph(...tasksOf('A:0 B:1'))).warnings).toEqual(['tasks: level 0 counts as the first level']);
  });
});

function knot(at: number, cycle: string): string {
  return `tasks[${at}].dependencies: the tasks wait for each other: ${cycle}; remove one of these dependencies`;
}

describe('dependencies', () => {
  it.each([
    ['A<X', 'tasks[0].dependencies[0]: "X" is not a task of this graph; known: A'],
    ['A<A', 'tasks[0].dependencies[0]: "A" depends on itself; remove the entry'],
    ['A<B B<A', knot(0, 'A -> B -> A')],
    ['X<A A<B B<C C<A', knot(1, 'A -> B -> C -> A')],
    ['A<B,C B<A C<A', `${knot(0, 'A -> B -> A')}\n${knot(0, 'A -> C -> A')}`],
    ['A<B B<A C<D D<C', `${knot(0, 'A -> B -> A')}\n${knot(2, 'C -> D -> C')}`],
  ])('%s is refused', (text, expected) => {
    expect(levelsOf(text)).toBe(expected);
  });

  it('that are unknown are refused with each known task once', () => {
    const twice = [{ id: 'A' }, { id: 'A' }, { id: 'B', dependencies: ['X'] }];
    expect(problemsOf(graph(...twice))).toContain(
      'tasks[2].dependencies[0]: "X" is not a task of this graph; known: A, B',
    );
  });

  it('that are unknown are refused with ten of the known tasks', () => {
    const tasks = Array.from({ length: 12 }, (_, index) => ({ id: `T${index}` }));
    expect(problemsOf(graph(...tasks, { id: 'Z', dependencies: ['X'] }))).toEqual([
      'tasks[12].dependencies[0]: "X" is not a task of this graph; known: T0, T1, T2, T3, T4, T5, T6, T7, T8, T9 and 3 more',
    ]);
  });

  it('that are listed twice count once, with a warning', () => {
    const parsed = parseGraph(graph({ id: 'A' }, { id: 'B', dependencies: ['A', 'A'] }));
    expect(parsed.warnings).toEqual(['tasks[1].dependencies[1]: "A" is listed twice; it counts once']);
    expect(parsed.ok && parsed.graph.tasks[1]?.dependencies).toEqual(['A']);
  });

  it('on a long cycle are cut in the message', () => {
    const tasks = Array.from({ length: 30 }, (_, index) => ({
      id: `T${index}`,
      dependencies: [`T${(index + 1) % 30}`],
    }));
    const ids = Array.from({ length: 18 }, (_, index) => `T${index}`).join(' -> ');
    expect(problemsOf(graph(...tasks))).toEqual([knot(0, `${ids} -> (11 more) -> T29 -> T0`)]);
  });
});

describe('the shape of the file', () => {
  const idRule = 'ids have letters, digits, ".", "_" and "-", 64 at most, and not digits alone';
  const featureRule =
    'is not a feature name; use letters, digits, ".", "_" and "-", a letter or digit first, 64 at most, ' +
    'no "..", no "." or ".lock" at the end';
  it.each<[unknown, string]>([
    [null, 'task graph: expected an object, got null'],
    [[], 'task graph: expected an object, got a list'],
    ['x', 'task graph: expected an object, got the text "x"'],
    [{ feature: 'x' }, 'tasks: is missing; it must be a list'],
    [{ tasks: [{ id: 'A' }] }, 'feature: is missing; it must be text'],
    [{ feature: 'x', tasks: {} }, 'tasks: expected a list, got an object'],
    [{ feature: 'x', tasks: [] }, 'tasks: is empty; a graph has at least one task'],
    [graph(3), 'tasks[0]: expected an object, got the number 3'],
    [graph({}), 'tasks[0].id: is missing; it must be text'],
    ...[
      ['1', 'T1'],
      ['001', 'T001'],
      ['a/b', 'a-b'],
      ['LOGIN:1', 'LOGIN-1'],
      ['Add the login page', 'Add-the-login-page'],
      ['..a..b..', 'a.b'],
      ['-a', 'a'],
      ['_a', 'a'],
      ['@trial', 'trial'],
      ['a.', 'a'],
      ['a.lock', 'a-lock'],
      ['ü', 'TASK'],
      ['x'.repeat(65), 'x'.repeat(63)],
      [`${'x'.repeat(62)}.lock`, 'x'.repeat(62)],
    ].map(([id, proposed]): [unknown, string] => [
      graph({ id }),
      `tasks[0].id: "${id}" is not a task id; write "${proposed}": ${idRule}`,
    ]),
    [graph({ id: '' }), `tasks[0].id: is empty; ${idRule}`],
    [graph({ id: 1 }), 'tasks[0].id: expected text, got the number 1; write "T1", in quotes'],
    [
      graph({ id: '1.1' }, { id: '1.2', dependencies: [1.1] }),
      'tasks[1].dependencies[0]: expected text, got the number 1.1; write "1.1", in quotes',
    ],
    [graph({ id: 'A' }, { id: 'A' }), 'tasks[1].id: "A" is the id of tasks[0]; give one of them another id'],
    [
      graph({ id: 'Ab' }, { id: 'aB' }),
      'tasks[1].id: "aB" differs only in case from "Ab" of tasks[0]; give one of them another id',
    ],
    [graph({ id: 'A', level: -1 }), 'tasks[0].level: must be 0 or more'],
    [graph({ id: 'A', level: 1.5 }), 'tasks[0].level: expected a whole number, got the number 1.5'],
    [graph({ id: 'A', level: 'x' }), 'tasks[0].level: expected a whole number, got the text "x"'],
    [graph({ id: 'A', files: { create: [1] } }), 'tasks[0].files.create[0]: expected text, got the number 1'],
    [graph({ id: 'A', files: 'a.ts' }), 'tasks[0].files: expected an object, got the text "a.ts"'],
    [graph({ id: 'A', dependencies: [''] }), 'tasks[0].dependencies[0]: is empty; name a task or remove the entry'],
    [graph({ id: 'A', files: ['a.ts'] }), 'tasks[0].files: expected an object, got a list; write { "modify": […] }'],
    [
      graph({ id: 'A', verification: 'npm test' }),
      'tasks[0].verification: expected an object, got the text "npm test"; write { "command": "…" }',
    ],
    [graph({ id: 'A', attempts: 0 }), 'tasks[0].attempts: must be 1 or more'],
    [graph({ id: 'A', attempts: 21 }), 'tasks[0].attempts: must be 20 or less'],
    [graph({ id: 'A', attempts: 1.5 }), 'tasks[0].attempts: expected a whole number, got the number 1.5'],
    [graph({ id: 'A', satisfied: 'yes' }), 'tasks[0].satisfied: expected true or false, got the text "yes"'],
    [
      graph({ id: 'A', satisfied: true }),
      'tasks[0].satisfied: needs a "verification": it alone decides whether the work is there',
    ],
    [graph({ id: 'A', run: ' ' }), 'tasks[0].run: is empty; write a shell command or remove the key'],
    [graph({ id: 'A', verification: {} }), 'tasks[0].verification.command: is missing; it must be text'],
    [
      graph({ id: 'A', verification: { command: '' } }),
      'tasks[0].verification.command: is empty; write a shell command or remove the key',
    ],
    [
      graph({ id: 'A', verification: { command: 'a', timeout_seconds: 0 } }),
      'tasks[0].verification.timeout_seconds: must be more than 0',
    ],
    [
      graph({ id: 'A', verification: { command: 'a', timeout_seconds: 1e9 } }),
      'tasks[0].verification.timeout_seconds: must be 604800 (a week) or less',
    ],
    [
      { ...graph({ id: 'A' }), version: '3.0' },
      'version: version 3.0 is newer than this program knows; it reads versions 1 and 2',
    ],
    [
      { ...graph({ id: 'A' }), version: 0 },
      'version: version 0 is older than this program knows; it reads versions 1 and 2',
    ],
    [{ ...graph({ id: 'A' }), version: 'new' }, 'version: "new" is not a version; write "2.0"'],
    [{ ...graph({ id: 'A' }), version: [] }, 'version: expected "1.0" or "2.0", got a list'],
    ...['', '-x', 'a/b', 'a..b', 'a.', 'a.lock', 'a b', 'x'.repeat(65)].map((feature): [unknown, string] => [
      { feature, tasks: [{ id: 'A' }] },
      `feature: "${feature}" ${featureRule}`,
    ]),
  ])('%j is refused', (value, problem) => {
    expect(problemsOf(value)).toEqual([problem]);
  });

  it.each(['1a', '1.1', '1.10', '001-setup', 'T-001', 'task.1', 'task_1', 'a', 'a-b', '2026.11.19', 'x'.repeat(64)])(
    'the id %s is fine',
    (id) => {
      expect(problemsOf(graph({ id }))).toEqual([]);
    },
  );

  it.each([1, 2, '1', '1.0', '2.0', '2.13.1', 'v2', null])('version %j is known', (version) => {
    expect(problemsOf({ ...graph({ id: 'A' }), version })).toEqual([]);
  });

  it('reports all problems at once, also within a task whose fields are wrong', () => {
    const tasks = [
      { id: 'A', title: 7, dependencies: ['X', 'B'], files: { create: ['a.ts', '/b', null] } },
      { id: 'B', level: -1, dependencies: ['A'], run: '', verify: 'x' },
      { id: 'C', files: { create: ['a.ts'] } },
      null,
    ];
    expect(problemsOf({ feature: '', tasks }).map((problem) => problem.split(':')[0])).toEqual([
      'feature',
      'tasks[0].title',
      'tasks[0].files.create[1]',
      'tasks[0].files.create[2]',
      'tasks[1].level',
      'tasks[1].run',
      'tasks[3]',
      'tasks[1].verify',
      'tasks[0].dependencies[0]',
      'tasks[0].dependencies',
    ]);
  });
});

describe('warnings', () => {
  it('name each unknown key once', () => {
    const odd = { steps_total: 3, verification: { command: 'x', retries: 1 } };
    const parsed = parseGraph({ ...graph({ id: 'A', ...odd }, { id: 'B', ...odd }), owner: 'me' });
    expect(parsed.ok).toBe(true);
    expect(parsed.warnings).toEqual([
      'owner: unknown key, ignored (1 place)',
      'tasks[*].steps_total: unknown key, ignored (2 places)',
      'tasks[*].verification.retries: unknown key, ignored (2 places)',
    ]);
  });

  it('name a path that is both made and changed', () => {
    const parsed = parseGraph(graph({ id: 'A', files: { create: ['./a.ts'], modify: ['b.ts', 'a.ts'] } }));
    expect(parsed.warnings).toEqual(['tasks[0].files.modify[1]: "a.ts" is in "create" as well']);
  });

  it('name a path to read that workers may not find', () => {
    const parsed = parseGraph(graph({ id: 'A', files: { read: ['docs/', '../api.md', '/etc/hosts'] } }));
    expect(parsed.ok && parsed.graph.tasks[0]?.files.read).toEqual(['docs/', '../api.md', '/etc/hosts']);
    expect(parsed.warnings).toEqual([
      expect.stringMatching(/^tasks\[0\]\.files\.read\[1\]: "\.\.\/api\.md" holds "\.\.".*; workers may not find it$/),
      expect.stringMatching(/^tasks\[0\]\.files\.read\[2\]: "\/etc\/hosts" is absolute.*; workers may not find it$/),
    ]);
  });
});

const meant = (at: string, key: string): string => `${at}: there is no such key; did you mean "${key}"?`;

describe('a key that is nearly known is an error', () => {
  it.each([
    [{ depends_on: ['A'] }, meant('tasks[0].depends_on', 'dependencies')],
    [{ dependsOn: ['A'] }, meant('tasks[0].dependsOn', 'dependencies')],
    [{ verfication: { command: 'x' } }, meant('tasks[0].verfication', 'verification')],
    [{ acceptanceCriteria: [] }, meant('tasks[0].acceptanceCriteria', 'acceptance_criteria')],
    [{ files_owned: ['a.ts'] }, meant('tasks[0].files_owned', 'files')],
    [{ modify: ['a.ts'] }, meant('tasks[0].modify', 'files.modify')],
    [{ cmd: 'make' }, meant('tasks[0].cmd', 'run')],
    [{ max_attempts: 1 }, meant('tasks[0].max_attempts', 'attempts')],
    [{ files: { creates: ['a.ts'] } }, meant('tasks[0].files.creates', 'create')],
    [{ files: { remove: ['a.ts'] } }, meant('tasks[0].files.remove', 'delete')],
    [{ files: { files_owned: ['a.ts'] } }, meant('tasks[0].files.files_owned', 'modify')],
    [
      { files: { tests: ['a.ts'] } },
      'tasks[0].files.tests: there is no such key; "files" has "create", "modify", "delete", "read"',
    ],
    [{ verification: { command: 'x', timeout: 3 } }, meant('tasks[0].verification.timeout', 'timeout_seconds')],
  ])('%j', (more, problem) => {
    expect(problemsOf(graph({ id: 'A', ...more }))).toEqual([problem]);
  });

  it('which is told once', () => {
    expect(
      problemsOf({ ...graph({ id: 'A', deps: [] }, { id: 'B', deps: [] }, { id: 'C', deps: [] }), taks: [] }),
    ).toEqual([
      meant('taks', 'tasks'),
      'tasks[0].deps: there is no such key, here and in 2 other places; did you mean "dependencies"?',
    ]);
  });

  it.each(['priority', 'tags', 'notes', 'owner', 'subtasks', 'details', 'wave', 'phases', 'parallel', 'type', 'name'])(
    'which "%s" is not',
    (key) => {
      expect(parseGraph(graph({ id: 'A', [key]: 'x' })).warnings).toEqual([
        `tasks[*].${key}: unknown key, ignored (1 place)`,
      ]);
    },
  );
});

describe('hostile input', () => {
  it('with the names of properties that every object has is ordinary data', () => {
    const text =
      '{"__proto__": {"feature": "evil"}, "feature": "x", "tasks": [{"id": "constructor", "__proto__": {"run": "x"}},' +
      '{"id": "toString", "dependencies": ["constructor"]}, {"id": "B", "dependencies": ["__proto__", "hasOwnProperty"]}]}';
    const parsed = parseGraph(JSON.parse(text));
    expect(parsed.warnings).toEqual([
      '__proto__: unknown key, ignored (1 place)',
      'tasks[*].__proto__: unknown key, ignored (1 place)',
    ]);
    expect(problemsOf(JSON.parse(text))).toEqual([
      'tasks[2].dependencies[0]: "__proto__" is not a task of this graph; known: constructor, toString, B',
      'tasks[2].dependencies[1]: "hasOwnProperty" is not a task of this graph; known: constructor, toString, B',
    ]);
  });

  it('puts no control characters into a message', () => {
    expect(problemsOf(graph({ id: 'A', dependencies: ['x\n\u001B[31m\u009B'] }))).toEqual([
      'tasks[0].dependencies[0]: "x\\n\\u001b[31m\uFFFD" is not a task of this graph; known: A',
    ]);
  });

  it('with very long chains and cycles is read', () => {
    const chain = Array.from({ length: 20_000 }, (_, index) => ({
      id: `T${index}`,
      dependencies: index < 19_999 ? [`T${index + 1}`] : [],
    }));
    const parsed = parseGraph(graph(...chain));
    expect(parsed.ok && parsed.graph.tasks[0]?.level).toBe(20_000);
    const knots = chain.map((task) => ({
      ...task,
      dependencies: [...task.dependencies, 'T0'].filter((id) => id !== task.id),
    }));
    expect(problemsOf(graph(...knots))).toHaveLength(101);
  });
});

it('the file format has a JSON schema', () => {
  const schema = taskGraphJsonSchema();
  expect(schema).toMatchObject({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Task graph',
    required: ['feature', 'tasks'],
    properties: {
      tasks: {
        minItems: 1,
        items: {
          required: ['id'],
          properties: {
            id: { pattern: expect.stringContaining('[A-Za-z0-9._-]{0,63}$'), description: expect.any(String) },
          },
        },
      },
    },
  });
  expect(JSON.stringify(schema)).not.toContain('additionalProperties');
});
