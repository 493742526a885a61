import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kill, tryLock } from '../../src/lib/index.ts';
import { eventsSoFar, killIfThere, stateSoFar } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import { createProject, simpleTask, slowTask, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const inOurs = (...parts: string[]): string => path.join(project.folder, '.mahabharatha', ...parts);
const goOn = (): Promise<void> => writeFile(path.join(project.outside, 'go'), '');
const waits = (id: string, file = 'go'): ReturnType<typeof simpleTask> =>
  simpleTask(id, {
    run: `touch "$OUTSIDE/${id}"; until [ -e "$OUTSIDE/${file}" ]; do sleep 0.05; done; echo ${id} > ${id}.txt`,
  });

/** What is made again while git removes it is an error to git. */
function clean(): string {
  return spawnSync('git', ['clean', '-fdx'], { cwd: project.folder, env: project.env, encoding: 'utf8' }).stdout;
}

/** The settings and the task graph are committed, as they are to be: what goes is what is ignored. */
async function committed(...tasks: ReturnType<typeof simpleTask>[]): Promise<void> {
  await project.config('workers: { count: 2, lease: 5s }\n');
  await project.graph('login', tasks);
  project.commit('specs');
}

const taskRuns = (id: string): Promise<unknown> =>
  waitFor(`${id} runs`, () => existsSync(path.join(project.outside, id)));

/** Then the orchestrator has nothing to write until something happens. */
const untilAllIsSaved = (): Promise<unknown> =>
  waitFor('the snapshot holds all', () => {
    const last = eventsSoFar(project).at(-1);
    return last !== undefined && 'seq' in last && last.seq === stateSoFar(project)?.events;
  });

describe('git clean -fdx while a run goes on', () => {
  it('is reported, removed files are made again, and the run completes', async () => {
    await committed(simpleTask('A'), waits('B'), simpleTask('C', { dependencies: ['A', 'B'] }));
    const run = project.start('kurukshetra');
    await taskRuns('B');
    await waitFor('A is merged', async () => eventsSoFar(project).some(({ type }) => type === 'task-merged'));
    await untilAllIsSaved();
    expect(clean()).toContain('.mahabharatha/state');
    await waitFor('the state is there again', () => eventsSoFar(project).some(({ type }) => type === 'warning'));

    const [first] = await project.events();
    expect(first).toMatchObject({ type: 'warning', text: expect.stringMatching(/removed .* while the run goes on/) });
    const second = await project.cli('kurukshetra', '--resume');
    expect([second.exit, second.stderr]).toEqual([2, expect.stringContaining(`process ${run.pid}`)]);
    expect((await project.cli('status')).exit).toBe(0);
    await goOn();
    const { exit, stdout, stderr } = await run.end;
    expect([exit, stderr]).toEqual([0, expect.anything()]);
    expect(stdout + stderr).toMatch(/warning: .*state\/login\/events\.jsonl.* made again/);
    const numbers = (await project.events()).map((event) => (event as unknown as { seq: number }).seq);
    expect(numbers[0]).toBeGreaterThan(1);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    expect(existsSync(inOurs('logs', '.gitignore'))).toBe(true);
    expectSound(project, 'at the end');
    expect((await project.cli('cleanup', '--yes')).exit).toBe(0);
  });

  it('again and again does not end the run', async () => {
    await committed(...Array.from({ length: 6 }, (_, n) => slowTask(`T${n}`, 0.3)), waits('B'));
    const run = project.start('kurukshetra');
    await taskRuns('B');
    for (let times = 0; times < 8; times += 1) {
      await waitFor('there is something to remove', () => existsSync(inOurs('state', 'login', 'lock.json')));
      clean();
    }
    await goOn();
    const { exit, stderr } = await run.end;
    expect([exit, stderr]).toEqual([0, expect.anything()]);
    expectSound(project, 'at the end');
  });

  it('and another run that takes the lock first: the first one stops, and writes nothing any more', async () => {
    await committed(waits('B'));
    const run = project.start('kurukshetra');
    await taskRuns('B');
    await untilAllIsSaved();
    killIfThere(run.pid, 'SIGSTOP');
    const processes = await project.processes();
    clean();
    await mkdir(inOurs('state', 'login'), { recursive: true });
    const lock = await tryLock(inOurs('state', 'login', 'lock.json'));
    killIfThere(run.pid, 'SIGCONT');
    const { exit, stderr } = await run.end;
    expect([exit, stderr]).toEqual([4, expect.stringContaining(`process ${process.pid}`)]);
    expect(existsSync(inOurs('state', 'login.json'))).toBe(false);
    expect(JSON.parse(await readFile(inOurs('state', 'login', 'lock.json'), 'utf8'))).toMatchObject({
      pid: process.pid,
    });
    await waitFor('no process of the run is left', () => !processes.some((pid) => kill(pid, 0)));
    if (lock.taken) await lock.release();
  });
});

describe('git clean -fdx after a run was stopped', () => {
  beforeEach(async () => {
    await committed(simpleTask('A'), waits('B'), simpleTask('C', { dependencies: ['A'] }), waits('D'));
    const run = project.start('kurukshetra');
    await taskRuns('B');
    await waitFor('A is done', async () => (await project.state()).tasks['A']?.status === 'complete');
    run.child.kill('SIGTERM');
    expect((await run.end).exit).toBe(143);
    clean();
  });

  it('every command says what is gone, what is left, and how to go on from there', async () => {
    for (const command of ['kurukshetra --resume', 'kurukshetra', 'status', 'merge', 'retry', 'logs']) {
      const { exit, stderr } = await project.cli(...command.split(' '));
      expect([command, exit]).toEqual([command, 2]);
      expect(stderr).toContain('The state of the run of "login" is gone');
      expect(stderr).toContain('refs/mahabharatha/login/A/1');
      expect(stderr).toContain('mahabharatha cleanup --feature login');
    }
    expect(project.git('rev-parse', '--verify', 'refs/mahabharatha/login/A/1')).toMatch(/^[0-9a-f]+\n$/);
  });

  it('cleanup --all keeps what was not published yet', async () => {
    const refs = project.git('for-each-ref');
    const { exit, stdout } = await project.cli('cleanup', '--all', '--yes');
    // The merge of A may have been made, or not yet.
    const kept = /^Kept: the run of "login": (1 commit is|2 commits are) in no branch outside mahabharatha\/\.\n$/;
    expect([exit, stdout]).toEqual([0, expect.stringMatching(kept)]);
    expect(project.git('for-each-ref')).toBe(refs);
  });

  it('cleanup finds the feature by its branches alone', async () => {
    await rm(inOurs('specs'), { recursive: true });
    expect((await project.cli('cleanup', '--feature', 'login', '--yes')).exit).toBe(0);
    expect(project.git('for-each-ref', 'refs/heads/mahabharatha', 'refs/mahabharatha')).toBe('');
  });
});

it('work of a run whose state was removed goes on from its branch as the error says', async () => {
  await committed(simpleTask('A'), simpleTask('B', { dependencies: ['A'], run: 'exit 1' }));
  expect((await project.cli('kurukshetra')).exit).toBe(1);
  clean();
  const told = await project.cli('kurukshetra', '--resume');
  expect(told.stderr).toContain('has the work of A');
  const commands = [
    ...told.stderr.matchAll(/(?:git branch|mahabharatha (?:cleanup|kurukshetra)) [^\n,]*?(?= —|,|\n|$)/g),
  ];
  expect(commands.map(([command]) => command)).toEqual([
    'git branch login-kept mahabharatha/login/integration',
    'mahabharatha cleanup --feature login',
    'mahabharatha kurukshetra --feature login --base login-kept --again',
  ]);
  project.git('branch', 'login-kept', 'mahabharatha/login/integration');
  expect((await project.cli('cleanup', '--feature', 'login', '--yes')).exit).toBe(0);
  await project.graph('login', [simpleTask('B')]);
  expect((await project.cli('kurukshetra', '--feature', 'login', '--base', 'login-kept', '--again')).exit).toBe(0);
  expect(project.git('show', 'mahabharatha/login/integration:A.txt')).toBe('A\n');
});
