import { describe, expect, it } from 'vitest';
import { adviceOn } from './advice.ts';
import { parseGraph } from './parse-graph.ts';

type Fields = Readonly<Record<string, unknown>>;

const task = (id: unknown, more: Fields = {}): Fields => ({
  id,
  title: `Task ${String(id)}`,
  description: 'Do it.',
  files: { create: [`src/${String(id)}.ts`] },
  verification: { command: 'npm test' },
  ...more,
});
const graph = (...tasks: readonly unknown[]): Fields => ({ feature: 'login', version: '2.0', tasks });

interface Verdict {
  readonly problems: readonly string[];
  readonly notes: readonly string[];
}

/** Problems of a refused graph; notes and advice of an accepted one. */
function verdictOn(value: unknown): Verdict {
  const parsed = parseGraph(value);
  if (!parsed.ok) return { problems: parsed.problems, notes: [] };
  return { problems: [], notes: [...parsed.warnings, ...adviceOn(parsed.graph, 4).notes] };
}

/** As teams and their agents have written them: what is harmless is a note. */
const ACCEPTED: readonly (readonly [string, unknown, readonly RegExp[]])[] = [
  [
    'one file in several levels',
    graph(
      task('SETUP-001', { level: 1, files: { create: ['src/index.ts'] } }),
      task('API-001', { level: 2, dependencies: ['SETUP-001'], files: { modify: ['src/index.ts'] } }),
      task('UI-001', { level: 3, dependencies: ['API-001'], files: { modify: ['src/index.ts'] } }),
    ),
    [/^src\/index\.ts is written by 3 tasks/],
  ],
  [
    'levels from 0, as in a list',
    graph(task('T-0', { level: 0 }), task('T-1', { level: 1, dependencies: ['T-0'] }), task('T-2', { level: 2 })),
    [/level 0 counts as the first level/],
  ],
  [
    'levels that the dependencies contradict',
    graph(task('a', { level: 1 }), task('b', { level: 1, dependencies: ['a'] }), task('c', { dependencies: ['b'] })),
    [/^tasks\[1\]\.level: "b" has level 1 and needs "a" of level 1, so it runs in level 2$/],
  ],
  [
    'one file and one level for tasks that depend on each other',
    graph(
      task('a', { level: 1, files: { create: ['src/x.ts'] } }),
      task('b', { level: 1, dependencies: ['a'], files: { modify: ['src/x.ts'] } }),
    ),
    [/"b" has level 1 .* so it runs in level 2$/],
  ],
  [
    'shell operators in verification',
    graph(
      task('a', {
        verification: { command: 'cd app && npm ci --prefer-offline && npm test -- --run 2>&1 | tail -20' },
      }),
      task('b', { verification: { command: 'npx tsc --noEmit || echo "TYPE ERRORS"' } }),
      task('c', { verification: { command: 'test -f src/c.ts && grep -q "export" src/c.ts; echo $?' } }),
      task('d', { verification: { command: 'for f in src/*.ts; do node --check "$f" || exit 1; done' } }),
    ),
    [/verification of a hides the failure/, /verification of b cannot fail/, /verification of c cannot fail/],
  ],
  [
    'no descriptions',
    graph({ id: 'a', files: { create: ['a.ts'] }, verification: { command: 'npm test' } }),
    [/^a without a desc/],
  ],
  ['no verification', graph(task('a', { verification: undefined })), [/^a has no verification/]],
  [
    'folders as files, with and without a slash',
    graph(
      task('a', { files: { create: ['src/components'], modify: ['docs/'] } }),
      task('b', { files: { create: ['test/'] } }),
    ),
    [],
  ],
  ['files to remove', graph(task('a', { files: { create: ['src/new.ts'], delete: ['src/old.ts', 'legacy/'] } })), []],
  [
    'ids with dots, beginning with digits, in lower case, in words',
    graph(
      task('1.1'),
      task('1.2', { dependencies: ['1.1'] }),
      task('001-setup'),
      task('task.3'),
      task('add-user-model'),
      task('TASK_004'),
      task('L2-auth.service'),
    ),
    [],
  ],
  [
    'keys of other programs',
    {
      ...graph(task('a', { priority: 'high', tags: ['api'], testStrategy: 'unit', subtasks: [], status: 'pending' })),
      metadata: { created: 'today' },
      total_tasks: 1,
    },
    [
      /^metadata: unknown key/,
      /priority: unknown key/,
      /tags: unknown key/,
      /testStrategy: unknown key/,
      /subtasks: unknown key/,
    ],
  ],
  [
    'files to read from anywhere',
    graph(task('a', { files: { create: ['a.ts'], read: ['/opt/specs/api.yaml', '../shared/types.ts'] } })),
    [/is absolute.*workers may not find it/, /holds "\.\.".*workers may not find it/],
  ],
  ['steps in the manner of test-driven work', graph(task('a', { steps: [{ step: 1, action: 'write_test' }] })), []],
];

describe('a graph is accepted', () => {
  it.each(ACCEPTED)('with %s', (_, value, notes) => {
    expect(verdictOn(value)).toEqual({ problems: [], notes: notes.map((note) => expect.stringMatching(note)) });
  });
});

/** What would break a run is an error, with what to write instead. */
const REFUSED: readonly (readonly [string, unknown, readonly RegExp[]])[] = [
  [
    'two tasks of one level that write one file',
    graph(
      task('a', { level: 1, files: { create: ['src/a.ts'], modify: ['package.json'] } }),
      task('b', { level: 1, files: { create: ['src/b.ts'], modify: ['package.json'] } }),
      task('c', { level: 1, files: { create: ['src/c.ts'], modify: ['package.json'] } }),
    ),
    [
      /"b" and .*give "b" level 2 \(.*, or the file/,
      /"c" and .*give "c" level 3 \(.*, or the file/,
      /"c" and .*give "c" level 3 \(.*, or the file/,
    ],
  ],
  [
    'a folder of one task with a file of another one in it',
    graph(task('a', { files: { create: ['src/auth'] } }), task('b', { files: { create: ['src/auth/jwt.ts'] } })),
    [/give "b" level 2/],
  ],
  [
    'ids that are numbers',
    graph(task(1), task(2, { dependencies: [1] })),
    [/write "T1", in quotes/, /write "T2", in quotes/, /dependencies\[0\]: .*write "T1", in quotes/],
  ],
  ['ids of digits alone', graph(task('001')), [/"001" is not a task id; write "T001"/]],
  ['ids with colons', graph(task('auth:login')), [/write "auth-login"/]],
  ['ids with slashes', graph(task('auth/login')), [/write "auth-login"/]],
  ['ids that are sentences', graph(task('Create the user model')), [/write "Create-the-user-model"/]],
  [
    'ids that are very long',
    graph(task('implement-the-user-registration-endpoint-with-mail-verification-and-tests')),
    [/write "implement-the-user-registration-endpoint-with-mail-verification"/],
  ],
  [
    'dependencies under another name',
    graph(task('a'), task('b', { depends_on: ['a'] })),
    [/depends_on: there is no such key; did you mean "dependencies"\?/],
  ],
  ['files under another name', graph({ id: 'a', files_owned: ['a.ts'] }), [/did you mean "files"\?/]],
  [
    'files under another name in their place',
    graph(task('a', { files: { files_owned: ['a.ts'] } })),
    [/did you mean "modify"\?/],
  ],
  [
    'files as a list',
    graph(task('a', { files: ['src/a.ts'] })),
    [/expected an object, got a list; write \{ "modify": \[…\] \}/],
  ],
  ['a verification that is a text', graph(task('a', { verification: 'npm test' })), [/write \{ "command": "…" \}/]],
  [
    'a misspelt verification',
    graph(task('a', { verification: undefined, verfication: { command: 'x' } })),
    [/did you mean "verification"\?/],
  ],
  ['absolute paths', graph(task('a', { files: { create: ['/src/a.ts'] } })), [/is absolute; name it from the root/]],
  ['paths of Windows', graph(task('a', { files: { create: ['src\\a.ts'] } })), [/separate names by "\/"/]],
  [
    'a dependency that is gone',
    graph(task('a', { dependencies: ['z'] })),
    [/"z" is not a task of this graph; known: a/],
  ],
  [
    'tasks that wait for each other',
    graph(task('a', { dependencies: ['b'] }), task('b', { dependencies: ['a'] })),
    [/a -> b -> a; remove one/],
  ],
  ['ids that differ in case alone', graph(task('Auth'), task('auth')), [/"auth" differs only in case from "Auth"/]],
];

describe('a graph is refused, with what to do,', () => {
  it.each(REFUSED)('for %s', (_, value, problems) => {
    expect(verdictOn(value).problems).toEqual(problems.map((problem) => expect.stringMatching(problem)));
  });
});
