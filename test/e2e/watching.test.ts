import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, waitFor } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** Prints, waits for the test's word, prints again. */
const waiting = (id: string): TestTask => ({
  id,
  create: [`${id}.txt`],
  run: `echo "${id} begins"; touch "$OUTSIDE/begun-${id}"; until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done; echo "${id} ends" >&2; echo 1 > ${id}.txt`,
});
const go = (): Promise<void> => writeFile(path.join(project.outside, 'go'), '');
const begun = (id: string): Promise<unknown> =>
  waitFor(`${id} to begin`, () =>
    readFile(path.join(project.outside, `begun-${id}`)).then(
      () => true,
      () => false,
    ),
  );

describe('a run seen from another terminal', () => {
  it('is shown by status and logs while it goes on, and both end with it', async () => {
    await project.graph('login', [
      waiting('A'),
      waiting('B'),
      { id: 'C', level: 2, dependencies: ['A'], create: ['c.txt'], run: 'echo 1 > c.txt' },
    ]);
    const run = project.start('kurukshetra', '--workers', '2');
    await begun('A');
    await begun('B');
    const status = await project.cli('status');
    expect(status.stdout).toMatch(new RegExp(`^Feature login: running \\(\\d+ s, process ${run.pid}, run `));
    expect(status.stdout).toMatch(
      /Level 1: running\n {2}▶ A +running[^\n]*attempt 1 on worker \d[^]*▶ B +running[^]*Level 2: pending\n {2}· C +pending/,
    );
    expect(status.stdout).toMatch(/Workers\n {2}0 +RUNNING +subprocess +[AB] +heartbeat \d+ s ago +pid \d+/);

    const watch = project.start('status', '--watch', '--json');
    const everyone = project.start('logs', '--follow');
    const one = project.start('logs', '--follow', '--task', 'A', '--json', '--tail', '1');
    await waitFor('the watchers to see something', () => [watch, everyone, one].every(({ output }) => output() !== ''));
    await go();

    expect((await run.end).exit).toBe(0);
    const [watched, all, followed] = await Promise.all([watch.end, everyone.end, one.end]);
    expect([watched.exit, all.exit, followed.exit]).toEqual([0, 0, 0]);
    const views = watched.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { status: string; workers: Record<string, { status: string }> });
    expect(views[0]).toMatchObject({ status: 'running', workers: { '0': { status: 'RUNNING' } } });
    expect(views.at(-1)).toMatchObject({ status: 'complete', workers: { '0': { status: 'STOPPED' } } });
    for (const words of ['A begins', 'A ends', 'B ends', 'run complete: 3 of 3 tasks'])
      expect(all.stdout).toContain(words);
    const lines = followed.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { task?: string; text?: string });
    expect(new Set(lines.map(({ task }) => task))).toEqual(new Set(['A']));
    expect(lines.map(({ text }) => text)).toContain('A ends');
  });

  it('can be read afterwards: by worker, by task, the last lines, as JSON', async () => {
    await go();
    await project.graph('login', [waiting('A'), waiting('B')]);
    await project.cli('kurukshetra', '--workers', '1');

    const last = await project.cli('logs', '0', '--tail', '2');
    expect(last.stdout.trim().split('\n')).toHaveLength(2);
    expect((await project.cli('logs', '0', '--tail', '0')).stdout).toBe('');
    const all = (await project.cli('logs', '--tail', 'all')).stdout;
    for (const words of ['A begins', 'A ends', 'B begins', 'A done', 'level 1 complete']) expect(all).toContain(words);
    const ofTask = (await project.cli('logs', '--task', 'B')).stdout;
    expect(ofTask).toContain('B ends');
    expect(ofTask).not.toContain('A ends');
    const json = (await project.cli('logs', '0', '--json', '--tail', 'all')).stdout.trim().split('\n');
    expect(json.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({ worker: 0, task: 'A', attempt: 'A.1', source: 'agent', text: 'A ends' }),
    );
    // A worker that crashes prints no JSON; that is its last word, and not older than all that it did.
    const logs = path.join(project.folder, '.mahabharatha', 'logs', 'login');
    await appendFile(path.join(logs, 'worker-0.jsonl'), 'Error: no memory\n    at crash\n');
    expect((await project.cli('logs', '0', '--tail', '2')).stdout).toMatch(/Error: no memory\n.*at crash\n$/);
    expect((await project.cli('logs', '--tail', '8')).stdout).toMatch(/Error: no memory\n.*at crash\n/);
    // Following a run that is over ends at once.
    expect((await project.cli('logs', '--follow', '--tail', '1')).exit).toBe(0);
  });
});

describe('output', () => {
  it('may be closed early: the run goes on to its end', async () => {
    await project.graph('login', [waiting('A'), { id: 'B', level: 2, create: ['b.txt'], run: 'echo 1 > b.txt' }]);
    const run = project.start('kurukshetra');
    await begun('A');
    run.child.stdout?.destroy();
    run.child.stderr?.destroy();
    await go();

    expect((await run.end).exit).toBe(0);
    expect((await project.state()).status).toBe('complete');
  });

  it('has nothing to show for --tail 0, and then says nothing', async () => {
    await go();
    await project.graph('login', [waiting('A')]);
    await project.cli('kurukshetra');
    expect(await project.cli('logs', '--tail', '0')).toMatchObject({ exit: 0, stdout: '', stderr: '' });
    const one = await project.cli('logs', '--tail', '1');
    expect(one.stdout.split('\n')).toHaveLength(2);
  });

  it('took as long as it took, also when it is resumed after its end', async () => {
    await go();
    await project.graph('login', [waiting('A')]);
    await project.cli('kurukshetra');
    const ended = async (): Promise<unknown> =>
      (JSON.parse((await project.cli('status', '--json')).stdout) as { endedAt: unknown }).endedAt;
    const before = await ended();
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect((await project.events()).map(({ type }) => type)).toContain('run-resumed');
    expect(await ended()).toBe(before);
  });

  it('has no colours in a pipe', async () => {
    await go();
    await project.graph('login', [waiting('A')]);
    const outputs = [
      await project.cli('kurukshetra'),
      await project.cli('status'),
      await project.cli('logs'),
      await project.cli('doctor'),
      await project.cli('cleanup', '--yes'),
    ];
    for (const { stdout, stderr } of outputs) expect(stdout + stderr).not.toContain('\u001B');
  });
});

describe('doctor', () => {
  it('says what is there, what is wrong and how to mend it, and exits 4 when something is', async () => {
    await project.graph('login', [waiting('A')]);
    await project.config('workers: { mode: subprocess }\n');
    const well = await project.cli('doctor', '--json');
    expect(well.exit).toBe(0);
    const { ok, findings } = JSON.parse(well.stdout) as {
      ok: boolean;
      findings: { what: string; state: string; found: string }[];
    };
    expect(ok).toBe(true);
    const found = Object.fromEntries(findings.map((finding) => [finding.what, finding.state]));
    expect(found).toMatchObject({
      node: 'ok',
      git: 'ok',
      bash: 'ok',
      repository: 'ok',
      disk: 'ok',
      config: 'ok',
      'feature login': 'ok',
    });

    // Each check answers, also when another has failed.
    await project.config('workers: { count: none }\n');
    await project.write('.mahabharatha/specs/broken/task-graph.json', '{}');
    const ill = await project.cli('doctor');
    expect(ill.exit).toBe(4);
    expect(ill.stdout).toMatch(/✗ config +\S*config\.yaml has 1 problem:[^]*workers\.count/);
    expect(ill.stdout).toMatch(/✗ feature broken [^]*tasks: is missing/);
    expect(ill.stdout).toMatch(/✓ feature login +1 tasks? in 1 levels?/);
    const outside = await project.at(project.outside).cli('doctor');
    expect(outside.exit).toBe(4);
    expect(outside.stdout).toMatch(/✗ .*repository +\S+ is not inside a git repository/);
  });

  it('says that there is no configuration, where there is none', async () => {
    const { stdout } = await project.cli('doctor');
    expect(stdout).toMatch(/✓ config +there is no \S+config\.yaml: every setting has its default\n/);
    await project.config('workers: { count: 2 }\n');
    expect((await project.cli('doctor')).stdout).toMatch(/✓ config +\S+config\.yaml\n/);
  });

  it('says once what keeps all of its checks from an answer', async () => {
    await project.write('../outside/empty/x', '');
    const empty = project.at(path.join(project.outside, 'empty'));
    empty.git('init', '--quiet');
    const { exit, stdout } = await empty.cli('doctor');
    expect(exit).toBe(4);
    expect(stdout.split('has no commit yet')).toHaveLength(2);
  });

  it('a feature that is only planned has a note, and is no fault', async () => {
    await project.write('.mahabharatha/specs/cube/requirements.md', '# cube\n');
    const { exit, stdout } = await project.cli('doctor', '--mode', 'subprocess');
    expect(stdout).toMatch(
      /! feature cube +it has no task graph yet\n +→ Once it is planned and approved: mahabharatha design cube/,
    );
    expect(exit, stdout).toBe(0);
  });

  it('finds folders in which nothing can be written', async () => {
    await project.write('.mahabharatha', 'a file');
    const { exit, stdout } = await project.cli('doctor');
    expect(exit).toBe(4);
    expect(stdout).toMatch(/✗ disk +\S+\.mahabharatha cannot be written: ENOTDIR/);
  });

  it('says what runs in containers would refuse of the configuration, also without an engine', async () => {
    project.env['DOCKER_HOST'] = 'unix:///nonexistent/docker.sock';
    const container = 'container: { allow: [nmp], mounts: [{ source: /no/such, target: /data }] }';
    const doctor = async (mode: string): Promise<{ exit: number | null; stdout: string }> => {
      await project.config(`workers: { mode: ${mode}, ${container} }\n`);
      return project.cli('doctor');
    };
    for (const mode of ['container', 'auto']) {
      const { exit, stdout } = await doctor(mode);
      expect(stdout).toMatch(/✗ config +\S*config\.yaml has 2 problems:\n.*"nmp".*\n.*\/no\/such.*\n +→ Correct/);
      expect(exit).toBe(4);
    }
    // Runs are subprocesses then, and do not look at it.
    const { exit, stdout } = await doctor('subprocess');
    expect(stdout).toMatch(/! config +\S*config\.yaml has 2 problems:/);
    expect(exit).toBe(0);
  });

  it('looks at what one mode needs alone when it is named, whatever the configuration says', async () => {
    project.env['DOCKER_HOST'] = 'unix:///nonexistent/docker.sock';
    await project.config('workers: { mode: container }\n');
    const subprocess = await project.cli('doctor', '--mode', 'subprocess');
    expect(subprocess.stdout).not.toMatch(/engine|image|limits/);
    expect(subprocess.exit).toBe(0);
    await project.config('workers: { mode: subprocess }\n');
    const container = await project.cli('doctor', '--mode', 'container');
    expect(container.stdout).toMatch(/✗ engine +DOCKER_HOST.*\n +→ Start Docker/);
    expect(container.exit).toBe(4);
    const wrong = await project.cli('doctor', '--mode', 'vm');
    expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('--mode vm is not known')]);
  });

  it('never shows a secret', async () => {
    project.env['ANTHROPIC_API_KEY'] = 'sk-very-secret';
    const { stdout } = await project.cli('doctor');
    expect(stdout).toContain('ANTHROPIC_API_KEY is set');
    expect(stdout).not.toContain('sk-very-secret');
  });
});

describe('demo', () => {
  it('builds a feature in a new repository and says what to look at; a folder with something in it is refused', async () => {
    const place = project.at(project.outside);
    const demo = await place.cli('demo', '--dir', 'try it');
    expect([demo.exit, demo.stderr]).toEqual([0, '']);
    expect(demo.stdout).toContain('4 of 4 tasks are merged');
    expect(demo.stdout).toMatch(/Look at it:[^]*mahabharatha merge && bash greet\.sh[^]*rm -rf/);
    const made = project.at(path.join(project.outside, 'try it'));
    expect((await made.cli('merge')).exit).toBe(0);
    expect(await made.read('greet.sh')).toContain('goodbye');

    await writeFile(path.join(project.outside, 'taken'), '');
    expect((await place.cli('demo', '--dir', 'taken')).stderr).toMatch(
      /taken is a file\.\n\nName an empty or new folder/,
    );
    const again = await place.cli('demo', '--dir', 'try it');
    expect(again.exit).toBe(2);
    expect(again.stderr).toMatch(/try it is not empty\.\n\nName an empty or new folder/);
  });
});
