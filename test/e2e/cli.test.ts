import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask as task } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { fingerprint } from '../support/temp-repository.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const COMMANDS = ['init', 'kurukshetra', 'status', 'logs', 'stop', 'retry', 'merge', 'cleanup', 'doctor', 'demo'];

/** Everything on disk, down to git's own files. */
const everything = (): Record<string, string> => fingerprint(path.dirname(project.outside));

/** Refused with this status: the message is whole, also as JSON, and nothing at all has changed. */
async function refused(args: readonly string[], exit: number, message: RegExp, where = project): Promise<void> {
  const before = everything();
  // One after the other: a start is planned under the lock, and a second start at that moment is refused for the lock.
  const plain = await where.cli(...args);
  const json = await where.cli(...args, '--json');
  expect([args, plain.exit, plain.stdout]).toEqual([args, exit, '']);
  expect(plain.stderr).toMatch(message);
  expect(plain.stderr).toMatch(/^error: .+\n\n.+\n$/s);
  expect([json.exit, json.stderr]).toEqual([exit, '']);
  const told = JSON.parse(json.stdout) as Record<string, unknown>;
  expect(told).toMatchObject({ type: 'error', exit });
  const problems = (told['problems'] ?? []) as string[];
  expect(problems).toHaveLength(plain.stderr.split('\n  - ').length - 1);
  for (const problem of problems) expect(told['message']).toContain(`- ${problem}`);
  expect(`error: ${String(told['message'])}\n\n${String(told['hint'])}\n`).toBe(plain.stderr);
  expect(everything()).toEqual(before);
}

describe('help', () => {
  it('shows every command with an example', async () => {
    const help = await project.cli('--help');
    expect(help.exit).toBe(0);
    for (const command of COMMANDS) {
      expect(help.stdout).toMatch(new RegExp(`^ +${command}\\b`, 'm'));
      const own = await project.cli(command, '--help');
      expect([command, own.exit, own.stderr]).toEqual([command, 0, '']);
      expect(own.stdout).toMatch(/Examples:\n +\$ mahabharatha \S+/);
    }
    expect((await project.cli()).exit).toBe(2);
    expect((await project.cli('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong use', () => {
  it('is refused with exit 2 and a hint: options, values and names', async () => {
    await project.graph('login', [task('T-1')]);
    await refused(['staus'], 2, /unknown command 'staus' \(Did you mean status\?\)/);
    await refused(
      ['kurukshetra', '--wrokers', '3'],
      2,
      /unknown option '--wrokers' \(Did you mean --workers\?\)[^]*kurukshetra --help/,
    );
    await refused(['run', 'login', 'search'], 2, /too many arguments/);
    await refused(['run', 'logni'], 2, /no feature "logni" here\. Known: login\.\n\nDid you mean "login"\?/);
    await refused(
      ['kurukshetra', '--workers', '0'],
      2,
      /--workers 0 is not a number of workers\.\n\nUse a whole number from 1 to 64/,
    );
    await refused(['kurukshetra', '--workers', 'many'], 2, /--workers many/);
    await refused(
      ['kurukshetra', '--max-time', 'soon'],
      2,
      /--max-time soon is not a duration\.\n\nUse seconds \(5400\)/,
    );
    for (const amount of ['0', '-1', '0.001', 'much'])
      await refused(['kurukshetra', `--max-cost=${amount}`], 2, /--max-cost .* is not an amount\.\n\nUse US dollars/);
    await refused(['kurukshetra', '--max-task-cost', '1e3'], 2, /--max-task-cost 1e3 is not an amount/);
    await refused(
      ['kurukshetra', '--mode', 'cloud'],
      2,
      /--mode cloud is not known\.\n\nUse auto, subprocess or container/,
    );
    await refused(['kurukshetra', '--feature', 'logout'], 2, /no feature "logout" here\. Known: login/);
    await refused(['kurukshetra', '--feature', '../x'], 2, /"\.\.\/x" cannot be a feature name/);
    await refused(['kurukshetra', '--task-graph', 'no-such.json'], 2, /no task graph at \/.*no-such\.json/);
    await refused(['kurukshetra', '--base', 'nowhere'], 2, /"nowhere" is not a commit, branch or tag/);
    await refused(['kurukshetra', '--agent', 'nobody'], 2, /no agent called "nobody"/);
    await refused(['kurukshetra', '--resume'], 2, /no run of "login" to resume/);
    for (const command of ['logs', 'retry', 'merge']) await refused([command], 2, /There is no run of "login"/);
  });

  it('is refused for what a run does not have', async () => {
    await project.graph('login', [task('T-1')]);
    await project.cli('kurukshetra', '--workers', '2');
    await refused(['logs', '2'], 2, /There is no worker 2\.\n\nWorkers of this run: 0 to 1/);
    await refused(['logs', 'first'], 2, /"first" is not a worker\.[^]*--feature first/);
    await refused(['logs', '--tail', 'some'], 2, /--tail some is not a number of lines/);
    await refused(['logs', '--task', 'T-9'], 2, /no task "T-9" in this run\.\n\nTasks: T-1/);
    await refused(['retry', 'T-9'], 2, /no task "T-9"[^]*behind --feature/);
    await refused(['retry', 'T-1'], 2, /Task T-1 is complete; only failed/);
    await refused(['merge', '--into', 'nowhere'], 2, /"nowhere" is not a commit, branch or tag/);
    await project.graph('second', [task('T-1')]);
    await refused(['logs', '--feature', 'second'], 2, /no run of "second"/);
  });

  it('is refused in a repository without a feature, with the step that makes one', async () => {
    for (const command of ['kurukshetra', 'status', 'merge', 'cleanup'])
      await refused([command], 2, /This repository has no feature yet\.\n\n.*mahabharatha init/);
  });

  it('is refused outside a repository, and, but for init, in one without a commit', async () => {
    for (const command of COMMANDS.filter((name) => name !== 'doctor' && name !== 'demo')) {
      await refused([command], 2, /is not inside a git repository[^]*git init/, project.at(project.outside));
    }
    const empty = project.at(project.outside);
    empty.git('init', '--quiet');
    await refused(['kurukshetra'], 2, /has no commit yet[^]*git commit/, empty);
    const first = await empty.cli('init');
    expect([first.exit, first.stdout]).toEqual([
      0,
      expect.stringMatching(/\n\nWorkers start from a commit: git add -A && git commit -m "first"\n/),
    ]);
    await refused(['kurukshetra', '--feature', 'example'], 2, /has no commit yet[^]*git commit/, empty);
    empty.commit('first');
    expect((await empty.cli('kurukshetra', '--feature', 'example')).exit).toBe(0);
  });
});

describe('files that cannot be used', () => {
  const graphFile = '.mahabharatha/specs/login/task-graph.json';

  it('a configuration: the file, the line or key, and all problems at once', async () => {
    await project.graph('login', [task('T-1')]);
    await project.config('workers:\n  count: [3\nretry: {}\n');
    await refused(['kurukshetra'], 2, /\.mahabharatha\/config\.yaml has \d problems?:\n {2}- line 3/);
    await project.config(
      'workers: { count: 100, cuont: 3 }\nretry: { attempts: 0 }\nownership: maybe\ngates: [{ name: x }]\n',
    );
    const places = ['workers.count', 'workers.cuont', 'retry.attempts', 'ownership', 'gates\\[0\\].command'];
    await refused(['kurukshetra'], 2, new RegExp(places.map((place) => `(?=[^]*- ${place}: )`).join('')));
  });

  it('a task graph: the file, the line or path, and all problems at once', async () => {
    await project.write(graphFile, '{\n "feature": "login",\n "tasks": [\n  { "id" "T-1" }\n ]\n}\n');
    await refused(
      ['kurukshetra'],
      2,
      /task-graph\.json has 1 problem:\n {2}- line 4, column 10: it is not JSON: ":" must come here, not "T-1"\n/,
    );
    await project.graph('login', [
      task('A', { dependencies: ['B'] }),
      task('B', { dependencies: ['A'] }),
      task('C', { dependencies: ['NOBODY'] }),
      task('C'),
      task('D', { create: ['../outside.txt'] }),
      task('E', { create: ['same.txt'] }),
      task('F', { create: ['same.txt'] }),
    ]);
    const problems = ['A.*B.*A', 'NOBODY', '"C"', '\\.\\./outside\\.txt', 'same\\.txt'];
    await refused(['kurukshetra'], 2, new RegExp(problems.map((problem) => `(?=[^]*- .*${problem})`).join('')));
    await refused(['kurukshetra', '--dry-run'], 2, /has \d+ problems:/);
    await project.graph('login', [task('A')]);
    await project.write(graphFile, (await project.read(graphFile)).replace('"login"', '"logout"'));
    await refused(['kurukshetra'], 2, /feature "login" says that it is for "logout"/);
  });

  it('a state: every command refuses it, changes nothing, and cleanup can still remove it', async () => {
    await project.graph('login', [task('T-1')]);
    await project.cli('kurukshetra');
    const file = path.join(project.folder, '.mahabharatha', 'state', 'login.json');
    const whole = await readFile(file, 'utf8');
    const broken: readonly (readonly [string, RegExp])[] = [
      [
        whole.slice(0, whole.length / 2),
        /login\.json cannot be used:\n {2}- line 1, column \d+: it is not JSON[^]*Nothing was changed\. Restore the file/,
      ],
      ['', /login\.json cannot be used/],
      [
        whole.replace('"status":"complete"', '"status":"done"'),
        /login\.json cannot be used:\n {2}- (status|tasks\.T-1\.status): /,
      ],
      [whole.replace('"version":1', '"version":99'), /login\.json has version 99; this program knows version 1/],
      ['{}', /login\.json has version none/],
    ];
    for (const [index, [text, message]] of broken.entries()) {
      await writeFile(file, text);
      // All commands for the first; the others show that each kind of damage is seen.
      const commands =
        index === 0 ? ['status', 'logs', 'retry', 'merge', 'kurukshetra', 'kurukshetra --resume'] : ['status'];
      for (const command of commands) await refused(command.split(' '), 4, message);
    }
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
    expect(project.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\n');
  });
});

describe('init', () => {
  it('writes missing files, overwrites none, and its example builds', async () => {
    await project.write('.mahabharatha/config.yaml', 'workers: { count: 2 }\n');
    const first = await project.cli('init');
    expect(first.stdout).toMatch(
      /kept +\.mahabharatha\/config\.yaml\n(written +\.mahabharatha\/schemas\/.+\.json\n){2}written +\.mahabharatha\/\.gitignore\nwritten +\.mahabharatha\/specs\/example\/task-graph\.json/,
    );
    expect(await project.read('.mahabharatha/config.yaml')).toBe('workers: { count: 2 }\n');
    await project.write('.mahabharatha/specs/example/notes.md', 'mine\n');
    const before = everything();
    const second = await project.cli('init', '--json');
    expect(JSON.parse(second.stdout)).toMatchObject({
      type: 'init',
      files: Array.from({ length: 5 }, () => ({ written: false })),
    });
    expect(everything()).toEqual(before);

    project.commit('mahabharatha');
    expect((await project.cli('kurukshetra', '--feature', 'example')).exit).toBe(0);
    expect(project.git('status', '--porcelain', '--untracked-files=all')).toBe('');
    expect((await project.cli('merge')).exit).toBe(0);
    expect(await project.read('mahabharatha-example/hello.txt')).toBe('Hello world\n');
  });

  it('writes a configuration of defaults only', async () => {
    await project.cli('init');
    const withFile = await project.cli('kurukshetra', '--dry-run', '--json');
    await project.write('.mahabharatha/config.yaml', '');
    const without = await project.cli('kurukshetra', '--dry-run', '--json');
    expect(without.exit).toBe(0);
    // A changed text needs a new approval.
    const said = JSON.parse(without.stdout) as { warnings: string[] };
    const approval = said.warnings.filter((warning) => !warning.includes('.mahabharatha/config.yaml has changed'));
    expect({ ...said, warnings: approval }).toEqual(JSON.parse(withFile.stdout));
  });
});

describe('--dry-run', () => {
  it('shows levels, tasks and files, starts nothing and writes nothing', async () => {
    await project.graph('login', [
      task('A'),
      task('B'),
      task('C', { dependencies: ['A'], modify: ['README.md'], surprise: 1 }),
    ]);
    await project.config('gates: [{ name: unit tests, command: "touch $OUTSIDE/gate" }]\n');
    const before = everything();

    const plan = await project.cli('kurukshetra', '--dry-run', '--workers', '2');
    expect(plan.exit).toBe(0);
    expect(plan.stdout).toMatch(/^mode subprocess, because --mode says so\n  Not protected: /);
    for (const words of ['login', 'A.txt', 'B.txt', 'C.txt', 'README.md', 'unit tests', 'Nothing was started']) {
      expect(plan.stdout).toContain(words);
    }
    expect(plan.stderr).toContain('surprise');
    const json = await project.cli('kurukshetra', '--dry-run', '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      type: 'plan',
      feature: 'login',
      levels: [1, 2],
      settings: { mode: 'subprocess' },
    });
    expect(everything()).toEqual(before);
  });

  it('shows the plan also where a run could not begin, and says what it would need', async () => {
    await project.graph('login', [task('A')]);
    project.env['DOCKER_HOST'] = 'unix:///nonexistent/docker.sock';
    const asked = ['kurukshetra', '--dry-run', '--mode', 'container'];
    const { exit, stdout, stderr } = await project.cli(...asked);
    expect({ exit, stderr }).toMatchObject({
      exit: 0,
      stderr: expect.stringMatching(
        /^note: a run could not begin now: No container engine can be reached:.* {2}Start Docker/s,
      ),
    });
    expect(stdout).toMatch(
      /^mode container, because a run would take nothing else here\n.*A\.txt.*Nothing was started/s,
    );
    const json = await project.cli(...asked, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      type: 'plan',
      mode: { name: 'container' },
      lack: { code: 'ENGINE_UNREACHABLE', hint: expect.stringContaining('Start Docker') },
    });
  });

  it('refuses what a run would refuse: a base that is not there, and a resume of nothing', async () => {
    await project.graph('login', [task('A')]);
    await refused(['kurukshetra', '--dry-run', '--base', 'nowhere'], 2, /"nowhere" is not a commit, branch or tag/);
    await refused(['kurukshetra', '--dry-run', '--resume'], 2, /no run of "login" to resume/);
  });
});

describe('--json', () => {
  it('is one object per line, from every command', async () => {
    await project.graph('login', [task('A'), task('B', { level: 2, dependencies: ['A'] })]);
    const lines = async (...args: readonly string[]): Promise<Record<string, unknown>[]> => {
      const result = await project.cli(...args, '--json');
      expect([args, result.exit, result.stderr]).toEqual([args, 0, '']);
      return result.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    };
    await project.config('workers: { mode: subprocess }\n');
    const run = await lines('kurukshetra');
    expect(run[0]).toMatchObject({ type: 'mode', mode: 'subprocess', because: '--mode says so' });
    expect(run[0]?.['unprotected']).toEqual([expect.stringContaining('your own rights')]);
    expect(run.filter(({ type }) => type !== 'note').map(({ type }) => type)).toEqual([
      'mode',
      ...(await project.events()).map(({ type }) => type),
    ]);
    expect(run.at(-1)).toMatchObject({ type: 'run-finished', status: 'complete', exit: 0 });
    expect((await lines('logs')).length).toBeGreaterThan(10);
    expect(await lines('status', '--watch')).toMatchObject([
      { feature: 'login', status: 'complete', orchestrator: null },
    ]);
    for (const args of [
      ['retry'],
      ['stop'],
      ['merge', '--dry-run'],
      ['merge'],
      ['cleanup', '--dry-run'],
      ['cleanup', '--yes'],
      ['doctor'],
      ['init'],
    ]) {
      expect(await lines(...args)).toHaveLength(1);
    }
  });
});
