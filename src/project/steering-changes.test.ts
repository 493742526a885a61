import { describe, expect, it } from 'vitest';
import { changedParts, steeringChanges } from './steering-changes.ts';

const kinds = (...files: string[]): string[] => steeringChanges(files, new Map()).map(({ what }) => what);

describe('changed files that tools, or later runs, obey', () => {
  it.each([
    [
      'settings and tasks of later runs',
      ['.mahabharatha/config.yaml', '.Mahabharatha/x', '.mahabharatha', '.mahabharatha/specs/a/task-graph.json'],
    ],
    [
      'git hooks',
      ['.husky/pre-commit', '.githooks/x', 'lefthook.yml', '.lefthook-local.yml', '.pre-commit-config.yaml'],
    ],
    ['what git does with files', ['.gitattributes', 'src/.gitattributes', '.gitmodules']],
    ['environment of a shell', ['.envrc', 'app/.envrc', 'mise.toml']],
    [
      'tasks and settings of editors',
      [
        '.vscode/tasks.json',
        '.vscode',
        'app/.vscode/settings.json',
        '.idea/x.xml',
        '.devcontainer/devcontainer.json',
        'x.code-workspace',
        '.helix/languages.toml',
        '.dir-locals-2.el',
        '.run/all.run.xml',
      ],
    ],
    [
      'orders to agents',
      ['CLAUDE.md', 'docs/AGENTS.md', '.claude/settings.json', '.mcp.json', '.cursor/rules/x.mdc', '.aider.conf.yml'],
    ],
    [
      'settings of a package manager',
      [
        '.npmrc',
        'packages/a/.npmrc',
        '.yarnrc.yml',
        '.yarn/releases/y.cjs',
        '.pnp.cjs',
        '.cargo/config.toml',
        'package.yaml',
        'a/package.json5',
      ],
    ],
    [
      'CI',
      ['.github/workflows/ci.yml', '.gitlab-ci.yml', '.circleci/config.yml', 'Jenkinsfile', '.ci/run', '.Github/x'],
    ],
    [
      'programs of linters, builds and debuggers, which editors start',
      ['eslint.config.mjs', 'app/.eslintrc.cjs', '.prettierrc.js', 'build.rs', 'settings.gradle.kts', '.gdbinit'],
    ],
    [
      'commands by name',
      ['Makefile', 'GNUmakefile', 'lib/rules.mk', 'justfile', 'Taskfile.yaml', 'docker-compose.yml', 'compose.yaml'],
    ],
  ])('are %s', (what, files) => {
    expect(files.map((file) => [file, kinds(file)])).toEqual(files.map((file) => [file, [what]]));
  });

  it.each([
    'src/index.ts',
    'README.md',
    'github/x',
    'docs/makefile.md',
    'src/claude.ts',
    'x.npmrc',
    'package-lock.json',
    '.gitignore',
  ])('%s is none of them', (file) => {
    expect(kinds(file)).toEqual([]);
  });

  it('are the files that make a folder a git repository, whose settings git obeys there', () => {
    const steering = ['a/b/HEAD', 'a/b/config', 'c/head', 'objects/d/head', 'e/HEAD'];
    const others = [
      'a/b/objects/x',
      'a/b/refs/x',
      'c/Refs/x',
      'objects/d/objects/x',
      'src/config',
      'src/head/index.ts',
    ];
    const what = 'a git repository of its own, which git in that folder obeys';
    expect(steeringChanges([...steering, ...others], new Map())).toEqual(steering.map((file) => ({ file, what })));
  });

  it('come in the order in which they take effect', () => {
    const files = ['Makefile', '.github/x', '.npmrc', 'AGENTS.md', '.vscode/x', '.envrc', '.husky/x', 'package.json'];
    expect(steeringChanges([...files, '.mahabharatha/x'], new Map()).map(({ file }) => file)).toEqual([
      '.mahabharatha/x',
      '.husky/x',
      'package.json',
      '.envrc',
      '.vscode/x',
      'AGENTS.md',
      '.npmrc',
      '.github/x',
      'Makefile',
    ]);
  });

  it('are packages when something in them has changed that runs or fetches, or when they could not be read', () => {
    const parts = new Map([
      ['a/package.json', ''],
      ['b/package.json', 'at install postinstall'],
    ]);
    expect(steeringChanges(['a/package.json', 'b/package.json', 'c/package.json'], parts)).toEqual([
      { file: 'b/package.json', what: 'package scripts: at install postinstall' },
      { file: 'c/package.json', what: 'package scripts: could not be read' },
    ]);
  });
});

describe('what has changed in a package', () => {
  it.each([
    ['nothing that matters', { version: '1', scripts: { a: 'x' } }, { version: '2', scripts: { a: 'x' } }, ''],
    ['a script', { scripts: { test: 'x', b: 'b' } }, { scripts: { test: 'y', b: 'b' } }, 'by name test'],
    [
      'what runs by itself',
      {},
      { scripts: { postinstall: 'x', prepare: 'y', lint: 'z' } },
      'at install postinstall, prepare; by name lint',
    ],
    ['a script that is gone', { scripts: { pretest: 'x' } }, {}, 'by name pretest'],
    [
      'what is fetched',
      { dependencies: { a: '1' } },
      { dependencies: { a: '2' }, packageManager: 'x' },
      'also dependencies, packageManager',
    ],
    ['scripts that are none', { scripts: 'x' }, { scripts: null, name: 'y' }, ''],
  ])('%s', (_, before, after, words) => {
    expect(changedParts(JSON.stringify(before), JSON.stringify(after))).toBe(words);
  });

  it('is everything when the package is new, and unknown when it is no JSON or too long', () => {
    expect(changedParts(undefined, JSON.stringify({ name: 'x', scripts: { install: 'x' } }))).toBe(
      'at install install',
    );
    expect(changedParts(JSON.stringify({}), '{')).toBe('could not be read');
    expect(changedParts(JSON.stringify({}), null)).toBe('could not be read');
    expect(changedParts(JSON.stringify({}), '[]')).toBe('could not be read');
  });
});
