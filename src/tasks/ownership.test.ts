import { describe, expect, it } from 'vitest';
import { foreignPaths, steeringPaths } from './ownership.ts';
import { parseGraph } from './parse-graph.ts';

interface Written {
  readonly create?: readonly string[];
  readonly modify?: readonly string[];
  readonly delete?: readonly string[];
  readonly level?: number;
}

function problemsOf(...tasks: readonly Written[]): readonly string[] {
  const parsed = parseGraph({
    feature: 'login',
    tasks: tasks.map(({ level = 1, ...files }, index) => ({ id: `T${index}`, level, files })),
  });
  return parsed.ok ? [] : parsed.problems;
}

const ADVICE = 'give "T1" level 2 (check --fix writes it), or the file to one task alone';

describe('ownership within a level', () => {
  it.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src/a.ts', 'src//a.ts'],
    ['src/a.ts', 'src/*.ts'],
    ['src/', 'src/x/y.ts'],
    ['src/**', '**/a.ts'],
    ['src/{a,b}.ts', 'src/{b,c}.ts'],
    ['*', 'README.md'],
    ['src/auth', 'src/auth/user.ts'],
    ['src/auth/**/user.ts', 'src/auth'],
    ['src/auth', 'src/auth/'],
  ])('refuses %s beside %s', (first, second) => {
    const parties = `"${second}" of "T1" and "${first}" of "T0" (tasks[0].files.create[0]), both in level 1`;
    expect(problemsOf({ create: [first] }, { modify: [second] })).toEqual([
      `tasks[1].files.modify[0]: ${parties}, can mean the same file; ${ADVICE}`,
    ]);
  });

  it('refuses a file that one task removes and another one changes', () => {
    const parties = '"a.ts" of "T1" and "a.ts" of "T0" (tasks[0].files.modify[0]), both in level 1';
    expect(problemsOf({ modify: ['a.ts'] }, { delete: ['a.ts'] })).toEqual([
      `tasks[1].files.delete[0]: ${parties}, can mean the same file; ${ADVICE}`,
    ]);
  });

  it.each([
    ['src/a.ts', 'src/b.ts'],
    ['src/a', 'src/ab/c.ts'],
    ['src/*.ts', 'src/*.js'],
    ['README', '**/*.md'],
    ['src/user.ts', '**/*.test.ts'],
    ['app/users/[id]/page.tsx', 'app/posts/[id]/page.tsx'],
  ])('allows %s beside %s', (first, second) => {
    expect(problemsOf({ create: [first] }, { create: [second] })).toEqual([]);
  });

  it('allows one file in two levels, and twice in one task', () => {
    expect(problemsOf({ create: ['a.ts'] }, { modify: ['a.ts'], level: 2 })).toEqual([]);
    expect(problemsOf({ create: ['src/**'], modify: ['src/a.ts'] })).toEqual([]);
  });

  it('reports each pair once, however many alternatives clash', () => {
    expect(problemsOf({ create: ['{a,b,c}.ts'] }, { create: ['{a,b,c}.ts'] }, { create: ['a.ts'] })).toHaveLength(3);
  });

  it('stops listing after 100 clashes', () => {
    const problems = problemsOf(...Array.from({ length: 5000 }, () => ({ create: ['**'] })));
    expect(problems).toHaveLength(101);
    expect(problems.at(-1)).toBe('tasks: only the first 100 clashes over files are shown');
  });
});

describe('paths stay in the repository', () => {
  const absolute = 'is absolute; name it from the root of the repository';
  const upwards = 'holds ".."; name it from the root of the repository, without a way up';
  const gits = "is part of git's own files; no task may name them";
  const ours = "is part of mahabharatha's own files; no task may name them";
  const folder = 'is the folder that steers later runs; name each file in it';
  const glob = 'is a glob over .mahabharatha/, which steers later runs; name each file in it';
  it.each([
    ['', 'is empty; name a file of the repository or remove the entry'],
    ['.', 'names no file; write "**" for the whole repository'],
    ['/etc/passwd', absolute],
    ['C:/x', absolute],
    ['{/etc,src}/x', absolute],
    ['src/../../x', upwards],
    ['{..,a}/x', upwards],
    ['a/.{.,x}/b', upwards],
    ['src\\a.ts', 'holds a backslash; separate names by "/"'],
    ['a\0b', 'holds a NUL character; remove it'],
    ['.git/hooks/pre-commit', gits],
    ['vendor/x/.GIT/config', gits],
    ['.{git,x}/config', gits],
    ['.g\u200Cit/config', gits],
    ['.git /config', gits],
    ['GIT~1/config', gits],
    ['.mahabharatha/state', ours],
    ['.mahabharatha/logs/x', ours],
    ['./.mahabharatha/worktrees/**', ours],
    ['.Mahabharatha//git/', ours],
    ['MAHABH~1/state/x.json', ours],
    ['.mahabharatha', folder],
    ['./.Mahabharatha', folder],
    ['.mahabharatha/', glob],
    ['.mahabharatha/**', glob],
    ['.mahabharatha/specs/*/task-graph.json', glob],
    ['{src,.mahabharatha}/config.yaml', glob],
    ['{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}', 'stands for more than 256 paths; use "*" or fewer alternatives'],
  ])('%j', (path, problem) => {
    const at = 'tasks[0].files.create[0]';
    expect(problemsOf({ create: [path] })).toEqual([`${at}: ${JSON.stringify(path)} ${problem}`]);
  });

  it('refuses a path that is too long, and shows the beginning of it', () => {
    expect(problemsOf({ create: ['a'.repeat(2000)] })).toEqual([
      `tasks[0].files.create[0]: "${'a'.repeat(99)}…" is longer than 1024 characters; shorten it`,
    ]);
  });

  it.each([
    '.github/ci.yml',
    '.gitignore',
    '.mahabharatha/config.yaml',
    'x/.mahabharatha/**',
    'a..b',
    'state/x',
    'data/x:y.md',
  ])('allows %s', (path) => {
    expect(problemsOf({ create: [path] })).toEqual([]);
  });
});

it('a file that steers later runs is reported when a task names it', () => {
  const create = ['a.ts', './.mahabharatha/config.yaml'];
  expect(parseGraph({ feature: 'login', tasks: [{ id: 'T0', files: { create } }] }).warnings).toEqual([
    'tasks[0].files.create[1]: "./.mahabharatha/config.yaml" of "T0" steers later runs: this task may change it',
  ]);
});

function files(create: readonly string[], modify: readonly string[] = []): Parameters<typeof foreignPaths>[0] {
  return { files: { create, modify, delete: ['gone.ts'], read: ['read.ts'] } };
}

const STEERING = [
  '.mahabharatha/config.yaml',
  '.mahabharatha/Dockerfile',
  '.mahabharatha/specs/next/task-graph.json',
  // The folder itself, as a link, a file or a submodule.
  '.mahabharatha',
  '.MAHABHARATHA/config.yaml',
  '.mahab\u200Dharatha/config.yaml',
  '.mahabharatha./config.yaml',
  '.mahabharatha::$INDEX_ALLOCATION/config.yaml',
  'MAHABH~1/config.yaml',
];

describe('foreignPaths', () => {
  it('returns what was not declared, in the order of the changes', () => {
    const task = files(['./src/a.ts', 'test/{unit,e2e}/*.test.ts'], ['docs/']);
    const changed = ['z.ts', 'src/a.ts', 'test/e2e/x.test.ts', 'docs/a/b.md', 'read.ts', 'docs'];
    expect(foreignPaths(task, changed)).toEqual(['z.ts', 'read.ts', 'docs']);
  });

  it('reads a path with brackets literally, too', () => {
    expect(foreignPaths(files(['app/[id]/page.tsx']), ['app/[id]/page.tsx', 'app/x/page.tsx'])).toEqual([
      'app/x/page.tsx',
    ]);
  });

  it("never allows git's files or ours", () => {
    expect(foreignPaths(files(['**']), ['a', '.mahabharatha/state/x.json', 'x/.git'])).toEqual([
      '.mahabharatha/state/x.json',
      'x/.git',
    ]);
  });

  it.each([
    '**',
    '*/**',
    '**/*',
    '.*/**',
    '.m*',
    '*',
    '.mahabharatha/**',
    '?mahabharatha/config.yaml',
    '{.mahabharatha,a}/config.yaml',
  ])('never matches what steers later runs with the glob %s', (glob) => {
    expect(foreignPaths(files([glob]), STEERING)).toEqual(STEERING);
  });

  it('allows a file that steers later runs when the task names it exactly', () => {
    const task = files(['./.mahabharatha//config.yaml', '.mahabharatha', '**']);
    expect(foreignPaths(task, ['a', ...STEERING])).toEqual(STEERING.slice(1));
    expect(steeringPaths(task, ['a', ...STEERING])).toEqual(STEERING.slice(1));
    expect(steeringPaths(files([]), ['a', 'docs/.mahabharatha/config.yaml'])).toEqual([]);
  });

  it('allows what is in a folder that is named without a slash, and what is to be removed', () => {
    const changed = ['src/auth/user.ts', 'src/auth', 'src/author.ts', 'gone.ts'];
    expect(foreignPaths(files(['./src/auth']), changed)).toEqual(['src/author.ts']);
  });

  it('allows nothing to a task that declares nothing', () => {
    expect(foreignPaths(files([]), ['a'])).toEqual(['a']);
  });
});
