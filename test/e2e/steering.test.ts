import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** Each writes what the next run would obey, beside work of its own. */
const ATTACKS = {
  config: 'mkdir -p .mahabharatha; echo "workers: { setup: touch $OUTSIDE/ran }" > .mahabharatha/config.yaml',
  image: 'mkdir -p .mahabharatha; echo "FROM mahabharatha-worker" > .mahabharatha/Dockerfile',
  companion: 'mkdir -p .mahabharatha/docker; echo "touch $OUTSIDE/ran" > .mahabharatha/docker/tool.sh',
  specs: 'mkdir -p .mahabharatha/specs/next; echo "{}" > .mahabharatha/specs/next/task-graph.json',
  letters: 'mkdir -p .MahaBharatha; echo "ownership: off" > .MahaBharatha/config.yaml',
  link: 'mkdir -p planted; echo "ownership: off" > planted/config.yaml; rm -rf .mahabharatha; ln -s planted .mahabharatha',
  file: 'rm -rf .mahabharatha; echo "ownership: off" > .mahabharatha',
  submodule:
    'rm -rf .mahabharatha; git init -q .mahabharatha; git -C .mahabharatha commit -q --allow-empty -m x; ' +
    'printf \'[submodule "x"]\\n\\tpath = .mahabharatha\\n\\turl = ./x\\n\' > .gitmodules',
};

describe('a steering file', () => {
  it.each(['enforce', 'warn', 'off'])('is owned by no glob of a task (ownership: %s)', async (ownership) => {
    await project.config(`ownership: ${ownership}\nretry: { attempts: 1 }\n`);
    const attacks = Object.entries(ATTACKS);
    await project.graph(
      'login',
      attacks.map(([id, attack], index) => ({
        id,
        level: index + 1,
        create: ['**'],
        run: `echo 1 > ${id}.txt; ${attack}`,
      })),
    );
    project.commit('settings');

    expect((await project.cli('kurukshetra')).exit).toBe(1);

    const { tasks } = await project.state();
    const outcomes = Object.entries(tasks).map(([id, { attempts }]) => [id, attempts.map(({ outcome }) => outcome)]);
    expect(outcomes).toEqual(attacks.map(([id]) => [id, ['not-owned']]));
    expect(project.git('diff', '--name-only', 'main', 'mahabharatha/login/integration')).toBe('');
  });

  it('may be written by a task that names the file, and a dry run says so', async () => {
    const named = '.mahabharatha/config.yaml';
    await project.graph('login', [
      {
        id: 'A',
        create: ['**', named],
        run: `mkdir -p .mahabharatha; echo "ownership: warn" > ${named}; echo 1 > a.txt`,
      },
    ]);

    const dry = await project.cli('kurukshetra', '--dry-run');
    const run = await project.cli('kurukshetra');

    expect(dry.stderr).toContain(`note: tasks[0].files.create[1]: "${named}" of "A" steers later runs`);
    expect(run.exit).toBe(0);
    expect(project.git('diff', '--name-only', 'main', 'mahabharatha/login/integration')).toBe(`${named}\na.txt\n`);
  });

  it('cannot be claimed by a glob in a task graph', async () => {
    await project.graph('login', [{ id: 'A', create: ['.mahabharatha/**'], run: 'true' }]);
    const { exit, stderr } = await project.cli('kurukshetra', '--dry-run');
    expect(exit).toBe(2);
    expect(stderr).toMatch(
      /tasks\[0\]\.files\.create\[0\] \(line \d+\): "\.mahabharatha\/\*\*" is a glob over \.mahabharatha\//,
    );
  });
});

describe('a merge', () => {
  it('lists steering files first and all of them: dry run, merge and JSON', async () => {
    await project.write('package.json', '{ "scripts": { "test": "node --test" } }\n');
    project.commit('a package');
    const many = 'mkdir many; for i in $(seq 60); do echo $i > many/$i.txt; done';
    const planted = [
      'mkdir -p .mahabharatha .github/workflows .vscode .husky',
      'echo "ownership: off" > .mahabharatha/config.yaml',
      'echo "on: push" > .github/workflows/x.yml',
      'echo "{}" > .vscode/tasks.json',
      'echo "exit 0" > .husky/pre-commit',
      `echo '{ "scripts": { "test": "node --test", "postinstall": "curl x" } }' > package.json`,
    ].join('; ');
    const create = ['**', '.mahabharatha/config.yaml'];
    await project.graph('login', [{ id: 'A', create, run: `${many}; ${planted}` }]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    const first = [
      '.mahabharatha/config.yaml',
      '.husky/pre-commit',
      'package.json',
      '.vscode/tasks.json',
      '.github/workflows/x.yml',
    ];

    const json = await project.cli('merge', '--dry-run', '--json');
    const { steering, files } = JSON.parse(json.stdout) as {
      steering: { file: string; what: string }[];
      files: string[];
    };
    expect(steering.map(({ file }) => file)).toEqual(first);
    expect(steering[2]?.what).toBe('package scripts: at install postinstall');
    expect(files).toHaveLength(65);
    for (const args of [['--dry-run'], []]) {
      const { exit, stdout } = await project.cli('merge', ...args);
      expect(exit).toBe(0);
      const lines = stdout.split('\n').slice(1, 7);
      expect(lines[0]).toBe('Look at these first: tools, or later runs, obey them.');
      expect(lines.slice(1).map((line) => line.trim().split('  ')[0])).toEqual(first);
      expect(stdout).toContain('… and 30 more');
    }
  });

  it('overwrites no file that git ignores: it names them, exits 1, and moves no branch', async () => {
    await project.write('.gitignore', '.env\nsecrets\n');
    project.commit('what git ignores');
    const run = 'echo theirs > .env; echo theirs > secrets; git add --force .env secrets';
    await project.graph('login', [{ id: 'A', create: ['**'], run: `${run}; echo > .gitignore` }]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    await project.write('.env', 'KEY=mine\n');
    await project.write('secrets/a.key', 'mine\n');
    const main = project.git('rev-parse', 'main');

    for (const args of [['--dry-run'], [], ['--json']]) {
      const { exit, stdout, stderr } = await project.cli('merge', ...args);
      expect(exit).toBe(1);
      expect(stdout + stderr).toMatch(
        /would overwrite 2 files in .* that git ignores.*: \.env, secrets\/a\.key\. Nothing was changed/,
      );
    }
    expect(project.git('rev-parse', 'main')).toBe(main);
    expect([await project.read('.env'), await project.read('secrets/a.key')]).toEqual(['KEY=mine\n', 'mine\n']);
  });
});
