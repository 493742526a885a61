import { execFileSync } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;
beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const PROGRAM = fileURLToPath(new URL('../../bin/mahabharatha.js', import.meta.url));
const SPECS = '.mahabharatha/specs/login';

const TASKS = `# What is built.
feature: login
tasks:
  - id: 1.1-remove
    files: { delete: [old.txt, legacy/] }
    run: rm -r old.txt legacy
  - id: docs
    files: { create: [docs] }   # a folder
    run: mkdir docs && echo a > docs/a.md
  - id: done.already
    files: { modify: [README.md] }
    satisfied: true
    run: "true"
    verification: { command: test -s README.md }
  - id: last
    attempts: 1
    dependencies: [1.1-remove]
    files: { create: [last.txt] }
    run: exit 1
`;

describe('a task graph in YAML', () => {
  it('is built, retried, edited and resumed, with files to delete, folders, own tries, and work that is there', async () => {
    await project.write('old.txt', 'old\n');
    await project.write('legacy/a/b.txt', 'old\n');
    project.commit('old files');
    await project.write(`${SPECS}/task-graph.yaml`, TASKS);
    expect((await project.cli('completion', 'words', '--', 'logs', '--task', '')).stdout).toContain('done.already');
    expect((await project.cli('kurukshetra')).exit).toBe(1);
    const { tasks } = await project.state();
    expect(tasks).toMatchObject({
      '1.1-remove': { status: 'complete', merged: true },
      docs: { status: 'complete', merged: true },
      'done.already': {
        status: 'complete',
        attempts: [{ detail: expect.stringContaining('nothing was changed, as') }],
      },
      last: { status: 'failed', cause: expect.stringContaining('failed 1 of 1 times') },
    });
    expect(project.git('ls-tree', '-r', '--name-only', 'mahabharatha/login/integration')).toBe(
      'README.md\ndocs/a.md\n',
    );
    expect(project.git('rev-parse', 'refs/mahabharatha/login/1.1-remove/1')).toMatch(/^[0-9a-f]{40}/);
    expect(JSON.parse(await project.read('.mahabharatha/state/login/task-graph.json'))).toMatchObject({
      feature: 'login',
    });

    await project.write(`${SPECS}/task-graph.yaml`, TASKS.replace('exit 1', 'echo x > last.txt'));
    expect((await project.cli('retry', 'last')).exit).toBe(0);
    // A run can also be resumed from its own copy, which is older.
    await rm(path.join(project.folder, SPECS), { recursive: true });
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(1);
    await project.write(`${SPECS}/task-graph.yaml`, TASKS.replace('exit 1', 'echo x > last.txt'));
    expect((await project.cli('retry')).exit).toBe(0);
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect((await project.cli('shell', '1.1-remove')).stderr).toContain('there is no container for a shell');
  });
});

describe('check --fix', () => {
  const GRAPH = `{
  // Comments stay.
  "feature": "login",
  "tasks": [
    { "id": "A", "files": { "modify": ["README.md"] }, "run": "echo A >> README.md" },
    {
      "id": "B", // and this one
      "level": 1,
      "files": { "modify": ["README.md"] },
      "run": "echo B >> README.md",
    },
    { "id": "C", "level": 1, "dependencies": ["B"], "run": "true" },
  ],
}
`;

  it('writes the levels that a graph needs, says which, and the graph can be built', async () => {
    await project.write(`${SPECS}/task-graph.json`, GRAPH);
    const refused = await project.cli('check');
    expect(refused).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('give "B" level 2 (check --fix writes it)'),
    });
    const fixed = await project.cli('check', '--fix');
    expect(fixed.exit, fixed.stderr).toBe(0);
    expect(fixed.stdout).toMatch(
      /task-graph\.json: 2 levels written\.\n  B: level 1 -> 2, because it shares files with "A"\n  C: level 1 -> 3, because it needs "B" of level 2\n\nFeature login/,
    );
    expect(await project.read(`${SPECS}/task-graph.json`)).toBe(
      GRAPH.replace('"level": 1,\n', '"level": 2,\n').replace('"C", "level": 1', '"C", "level": 3'),
    );
    const again = await project.cli('check', '--fix', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ type: 'check', mended: { levels: [] } });
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:README.md')).toBe('# A project\nA\nB\n');
  });

  it('changes nothing when more is wrong, and nothing that ownership allows', async () => {
    const wrong = GRAPH.replace('"dependencies"', '"depends_on"');
    await project.write(`${SPECS}/task-graph.json`, wrong);
    const { exit, stderr } = await project.cli('check', '--fix');
    expect(exit).toBe(2);
    expect(stderr).toMatch(
      /1 problem that --fix cannot mend[^]*tasks\[2\]\.depends_on \(line \d+\): .*did you mean "dependencies"\?/,
    );
    expect(await project.read(`${SPECS}/task-graph.json`)).toBe(wrong);
    await project.config('ownership: warn\n');
    await project.write(`${SPECS}/task-graph.json`, GRAPH);
    const allowed = await project.cli('check', '--fix', '--format', 'mermaid');
    expect(allowed.exit).toBe(0);
    expect(allowed.stdout).toMatch(/^flowchart/);
    expect(allowed.stderr).toContain('C: level 1 -> 2');
    expect((await project.cli('check')).stderr).toMatch(/note: .*"B" and .*can mean the same file/);
  });
});

async function refused(words: RegExp): Promise<void> {
  const { exit, stderr } = await project.cli('check', 'login');
  expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringMatching(words) });
}

describe('a task graph is refused in plain words', () => {
  it('with the line of what is wrong, and when it asks for an agent that there is not', async () => {
    const file = `${SPECS}/task-graph.json`;
    await project.write(file, '{ "feature": "login", "tasks": [{ "id": "A", "agent": "clade" }] }');
    await refused(/no agent called "clade", which A of the task graph asks for\.[^]*Did you mean "claude"\?/);
    await project.write(file, '{\n "feature": "login",\n "tasks": [\n  {}]\n}\n');
    await refused(/tasks\[0\]\.id \(line 4\): is missing/);
  });

  it('when there are two, when it is a folder, and when it is not UTF-8', async () => {
    await project.write(`${SPECS}/task-graph.yaml`, TASKS);
    await project.write(`${SPECS}/task-graph.json`, '{}');
    await refused(/more than one task graph: .*task-graph\.json, .*task-graph\.yaml\./);
    await rm(path.join(project.folder, SPECS), { recursive: true });
    await mkdir(path.join(project.folder, SPECS, 'task-graph.yml'), { recursive: true });
    await refused(/task-graph\.yml has 1 problem:\n {2}- it is a folder; put a file in its place/);
    await rm(path.join(project.folder, SPECS), { recursive: true });
    await project.write(`${SPECS}/task-graph.json`, '');
    await writeFile(path.join(project.folder, SPECS, 'task-graph.json'), Buffer.from('\uFEFF{}', 'utf16le'));
    await refused(/it is not UTF-8 text; save it as UTF-8/);
    await project.write(`${SPECS}/task-graph.json`, '\uFEFFx: 1');
    await refused(/it is not JSON/);
  });

  it('when it is a named pipe or a device, which would be waited for without an end', async () => {
    await mkdir(path.join(project.folder, SPECS), { recursive: true });
    const pipe = path.join(project.folder, SPECS, 'task-graph.json');
    execFileSync('mkfifo', [pipe]);
    await refused(/task-graph\.json has 1 problem:\n {2}- it is a named pipe, and no file; put a file in its place/);
    for (const args of [
      ['kurukshetra'],
      ['kurukshetra', '-g', pipe],
      ['check', '-g', pipe],
      ['check', '--fix', '-g', pipe],
    ])
      expect(await project.cli(...args)).toMatchObject({
        exit: 2,
        stderr: expect.stringContaining('it is a named pipe'),
      });
    expect((await project.cli('check', '-g', '/dev/zero')).stderr).toContain('it is a device, and no file');
    const words = await project.cli('plan', 'other', '--from', pipe, '--without-agent');
    expect(words).toMatchObject({ exit: 4, stderr: expect.stringContaining('cannot be read: it is a named pipe') });
  });

  it('and is read from a shell: a process in its place, and what is piped to /dev/stdin', async () => {
    await writeFile(
      path.join(project.outside, 'graph'),
      JSON.stringify({ feature: 'login', tasks: [{ id: 'A', run: 'true' }] }),
    );
    const shell = (script: string): string =>
      execFileSync('bash', ['-c', script, 'test', process.execPath, PROGRAM, path.join(project.outside, 'graph')], {
        cwd: project.folder,
        env: project.env,
        encoding: 'utf8',
      });
    expect(shell('"$1" "$2" check -g <(cat "$3")')).toContain('worker 0  A (10)');
    expect(shell('"$1" "$2" check --fix -g <(cat "$3") 2>&1 || true')).toContain('it is no file that could be changed');
    expect(shell('cat "$3" | "$1" "$2" check -g /dev/stdin')).toContain('worker 0  A (10)');
    expect(shell('"$1" "$2" kurukshetra --dry-run --mode subprocess -g <(cat "$3")')).toContain('└─ A');
    expect(shell('"$1" "$2" plan login --from <(echo They log in.) --without-agent')).toContain('Draft');
  });
});
