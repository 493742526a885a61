import { access, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectSound } from '../support/check-run.ts';
import { createProject, simpleTask, waitFor } from '../support/project.ts';
import type { CliResult, TestProject, TestTask } from '../support/project.ts';

const INTEGRATION = 'mahabharatha/login/integration';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** Lets a task go on that waits for this name. */
const allow = (name: string): Promise<void> => writeFile(path.join(project.outside, name), '');
const happened = (name: string): Promise<boolean> =>
  access(path.join(project.outside, name)).then(
    () => true,
    () => false,
  );
const until = (name: string): string => `until [ -e "$OUTSIDE/${name}" ]; do sleep 0.02; done`;

const onBranch = (): string[] => project.git('ls-tree', '-r', '--name-only', INTEGRATION).trim().split('\n').toSorted();

/** A fails until it is mended; of the second level C is merged while D waits. */
function twoLevels(): TestTask[] {
  return [
    simpleTask('A', { level: 1, run: `test -e "$OUTSIDE/mended" && echo A > A.txt` }),
    simpleTask('B', { level: 1 }),
    simpleTask('C', { level: 2 }),
    simpleTask('D', { level: 2, run: `touch "$OUTSIDE/D-begun"; ${until('D')}; echo D > D.txt` }),
  ];
}

const merged = async (task: string): Promise<boolean> =>
  (await project.events().catch(() => [])).some((event) => event.type === 'task-merged' && event.task === task);

async function startUntilCIsMerged(): Promise<ReturnType<TestProject['start']>> {
  await project.config('retry: { attempts: 1 }\n');
  const live = project.start('kurukshetra', '--workers', '2');
  await waitFor('C is merged and D has begun', async () => (await merged('C')) && happened('D-begun'));
  return live;
}

async function stopped(live: ReturnType<TestProject['start']>): Promise<void> {
  live.child.kill('SIGINT');
  expect((await live.end).exit).toBe(130);
}

/** All of the second level is merged, and none of it published. */
async function stopAtGatesOfSecondLevel(): Promise<void> {
  const command = `[ ! -e D.txt ] || [ -e "$OUTSIDE/seen" ] || { touch "$OUTSIDE/seen"; sleep 1000; }`;
  await project.config(`retry: { attempts: 1 }\ngates: ${JSON.stringify([{ name: 'slow', command }])}\n`);
  await allow('D');
  const live = project.start('kurukshetra', '--workers', '2');
  await waitFor('the gates of the second level run', () => happened('seen'));
  await stopped(live);
}

async function expectAll(end: CliResult, ids: readonly string[]): Promise<void> {
  expect(end.exit, end.stderr + end.stdout).toBe(0);
  expect(onBranch()).toEqual([...ids.map((id) => `${id}.txt`), 'README.md'].toSorted());
  const { tasks, integrationTip } = await project.state();
  for (const id of ids) project.git('merge-base', '--is-ancestor', tasks[id]?.commit ?? '', INTEGRATION);
  expect(project.git('rev-parse', INTEGRATION).trim()).toBe(integrationTip);
  expectSound(project, 'a run that is complete');
}

describe('work of a level that is merged and not published, when an earlier level gets more work', () => {
  it('is published together with a task that is tried again while the run is live', async () => {
    await project.graph('login', twoLevels());
    const live = await startUntilCIsMerged();
    await allow('mended');
    expect((await project.cli('retry', 'A')).exit).toBe(0);
    await waitFor('A is published', async () =>
      (await project.events()).some((event) => event.type === 'level-published' && event.tasks.includes('A')),
    );
    await allow('D');
    await expectAll(await live.end, ['A', 'B', 'C', 'D']);
  });

  it('is published together with a task that is tried again after a stop', async () => {
    await project.graph('login', twoLevels());
    await stopAtGatesOfSecondLevel();
    await allow('mended');
    expect((await project.cli('retry', 'A')).exit).toBe(0);
    await expectAll(await project.cli('kurukshetra', '--resume'), ['A', 'B', 'C', 'D']);
  });

  it('is published together with a task that is added to the graph after a stop', async () => {
    await project.graph('login', twoLevels());
    await allow('mended');
    await stopAtGatesOfSecondLevel();
    await project.graph('login', [...twoLevels(), simpleTask('E', { level: 1 })]);
    await expectAll(await project.cli('kurukshetra', '--resume'), ['A', 'B', 'C', 'D', 'E']);
  });
});

describe('the result of gates', () => {
  const buggy = simpleTask('C', {
    run: `if [ -e "$OUTSIDE/C-again" ]; then echo good > C.txt; else touch "$OUTSIDE/C-again"; echo BUG > C.txt; fi`,
  });
  const four = [simpleTask('A'), simpleTask('B'), buggy, simpleTask('D')];

  it('about some of the tasks does not count for all when the orchestrator is killed meanwhile', async () => {
    const onTwo = `[ "$(ls [A-D].txt | wc -l)" = 2 ] && ! [ -e C.txt ] && touch "$OUTSIDE/two" && ${until('go')}`;
    const command = `${onTwo}; ! grep -l BUG *.txt`;
    await project.config(`workers: { lease: 30s }\ngates: ${JSON.stringify([{ name: 'no bugs', command }])}\n`);
    await project.graph('login', four);
    const live = project.start('kurukshetra', '--workers', '1');
    await waitFor('the gates run on two tasks', () => happened('two'));
    live.child.kill('SIGKILL');
    await live.end;
    const resumed = project.start('kurukshetra', '--resume');
    await allow('go');
    await expectAll(await resumed.end, ['A', 'B', 'C', 'D']);
    expect(project.git('show', `${INTEGRATION}:C.txt`)).toBe('good\n');
  });

  it('does not count for other gates: edited gates run, and a red one counts', async () => {
    const slow = { name: 'first', command: `touch "$OUTSIDE/asked"; ${until('go')}` };
    await project.config(`workers: { lease: 30s }\ngates: ${JSON.stringify([slow])}\n`);
    await project.graph('login', [simpleTask('A')]);
    const live = project.start('kurukshetra', '--workers', '1');
    await waitFor('the gates run', () => happened('asked'));
    live.child.kill('SIGKILL');
    await live.end;
    await project.config(`gates: ${JSON.stringify([{ name: 'second', command: 'exit 7' }])}\n`);
    const resumed = project.start('kurukshetra', '--resume');
    await allow('go');
    expect((await resumed.end).exit).toBe(1);
    expect(project.git('rev-parse', INTEGRATION)).toBe(project.git('rev-parse', 'main'));
  });
});

describe('objects that are pruned', () => {
  it('of merges that are not published are made anew, and nothing of the base is lost', async () => {
    await project.write('src/deep/base.txt', 'base\n');
    project.commit('a folder that a task writes into');
    const inFolder = simpleTask('C', { level: 2, create: ['src/deep/C.txt'], run: 'echo C > src/deep/C.txt' });
    await project.graph('login', [...twoLevels().filter(({ id }) => id !== 'C'), inFolder]);
    await allow('mended');
    await stopped(await startUntilCIsMerged());
    const refs = project.git('for-each-ref', '--format=%(refname)', 'refs/mahabharatha').split('\n');
    const trial = refs.filter((ref) => !/\/\d+$/.test(ref) && ref !== '');
    expect(trial).toHaveLength(1);
    project.git('update-ref', '-d', trial[0] ?? '');
    project.git('reflog', 'expire', '--expire=now', '--all');
    project.git('prune', '--expire=now');
    await allow('D');
    const end = await project.cli('kurukshetra', '--resume');
    expect(end.exit, end.stderr).toBe(0);
    expect(onBranch()).toEqual(['A.txt', 'B.txt', 'D.txt', 'README.md', 'src/deep/C.txt', 'src/deep/base.txt']);
    expect((await project.events()).filter(({ type }) => type === 'trial-dropped')).toHaveLength(1);
    expectSound(project, 'after a prune');
  });
});

describe('the integration branch', () => {
  it('stays where it is when a working tree has it checked out; the run says which, and goes on when that is over', async () => {
    await project.graph('login', twoLevels());
    await allow('mended');
    const live = await startUntilCIsMerged();
    const folder = path.join(project.outside, 'a look at it');
    project.git('worktree', 'add', '--quiet', folder, INTEGRATION);
    const before = project.git('rev-parse', INTEGRATION);
    await allow('D');
    const end = await live.end;
    expect(end).toMatchObject({ exit: 4, stderr: expect.stringContaining(folder) as string });
    expect(project.git('rev-parse', INTEGRATION)).toBe(before);
    expect(project.at(folder).git('status', '--porcelain')).toBe('');
    expect((await project.cli('kurukshetra', '--resume')).stderr).toContain(folder);
    project.at(folder).git('switch', '--quiet', '--detach');
    await expectAll(await project.cli('kurukshetra', '--resume'), ['A', 'B', 'C', 'D']);
    expect(await readFile(path.join(folder, 'A.txt'), 'utf8')).toBe('A\n');
  });
});
