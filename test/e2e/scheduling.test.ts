import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createProject, waitFor } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

let project: TestProject;

afterEach(() => project.remove());

interface Interval {
  readonly task: string;
  readonly worker: string;
  readonly from: number;
  readonly to: number;
}

/** Writes down when it begins and ends, by the machine's own clock, and makes its file. */
function timed(id: string, work: string, rest: Partial<TestTask> = {}): TestTask {
  const note = (what: string): string => `echo "${what} $MAHABHARATHA_WORKER $(date +%s%N)" >> "$OUTSIDE/times-${id}"`;
  return { id, create: [`${id}.txt`], run: `${note('from')}; ${work}; echo ${id} > ${id}.txt; ${note('to')}`, ...rest };
}

async function intervals(): Promise<Interval[]> {
  const files = (await readdir(project.outside)).filter((file) => file.startsWith('times-'));
  const read = await Promise.all(
    files.map(async (file) => {
      const [from, to] = (await readFile(path.join(project.outside, file), 'utf8')).split('\n');
      const [, worker = '', start] = from?.split(' ') ?? [];
      return { task: file.slice('times-'.length), worker, from: Number(start), to: Number(to?.split(' ')[2]) };
    }),
  );
  return read.toSorted((one, other) => one.from - other.from);
}

/** How many ran at the busiest moment. */
function busiest(all: readonly Interval[]): number {
  return Math.max(...all.map(({ from }) => all.filter((other) => other.from <= from && from < other.to).length));
}

/** Waits until so many tasks have begun: it cannot end when they do not run at the same time. */
const untilBegun = (count: number): string =>
  `until [ "$(ls "$OUTSIDE" | grep -c ^times-)" -ge ${count} ]; do sleep 0.2; done`;

describe('scheduling', () => {
  it('runs tasks of one level at the same time, as many as there are workers and no more', async () => {
    project = await createProject();
    const tasks = Array.from({ length: 9 }, (_, index) => timed(`T-${index}`, `${untilBegun(3)}; sleep 0.1`));
    await project.graph('login', tasks);

    const run = await project.cli('kurukshetra', '--workers', '3');

    expect(run.exit).toBe(0);
    const all = await intervals();
    expect(all).toHaveLength(9);
    expect(busiest(all)).toBe(3);
    expect(new Set(all.map(({ worker }) => worker))).toEqual(new Set(['0', '1', '2']));
  });

  it('gives the next task to a free worker while a slow task goes on', async () => {
    project = await createProject();
    // The slow task ends only when all others have: with a fixed share per worker it never would.
    const fast = Array.from({ length: 8 }, (_, index) => `F-${index}`);
    const allDone = `until [ "$(cat "$OUTSIDE"/times-F-* | grep -c ^to)" = ${fast.length} ]; do sleep 0.02; done`;
    await project.graph('login', [timed('SLOW', allDone), ...fast.map((id) => timed(id, 'true'))]);
    await project.config('workers: { task_timeout: 20m }\n');

    const run = await project.cli('kurukshetra', '--workers', '3');

    expect(run.exit).toBe(0);
    const all = await intervals();
    const slow = all.find(({ task }) => task === 'SLOW');
    expect(all.filter(({ worker }) => worker === slow?.worker)).toEqual([slow]);
  });

  it('starts the longest tasks first', async () => {
    project = await createProject();
    const minutes = { 'T-5': 5, 'T-60': 60, 'T-1': 1, 'T-30': 30 };
    const tasks = Object.entries(minutes).map(([id, estimate]) => timed(id, 'true', { estimate_minutes: estimate }));
    await project.graph('login', tasks);

    await project.cli('kurukshetra', '--workers', '1');

    expect((await intervals()).map(({ task }) => task)).toEqual(['T-60', 'T-30', 'T-5', 'T-1']);
  });

  it('starts 24 workers at once', async () => {
    project = await createProject();
    await project.graph(
      'login',
      Array.from({ length: 24 }, (_, index) => timed(`T-${index}`, untilBegun(24))),
    );
    // So many processes may be late by more than two leases.
    await project.config('workers: { lease: 20m }\n');

    const run = await project.cli('kurukshetra', '--workers', '24');

    expect(run.exit).toBe(0);
    expect(busiest(await intervals())).toBe(24);
    const events = await project.events();
    expect(events.filter(({ type }) => type === 'attempt-failed' || type === 'worker-exited')).toEqual(
      Array.from({ length: 24 }, () => expect.objectContaining({ type: 'worker-exited', expected: true })),
    );
    expect(project.git('fsck', '--no-dangling')).toBe('');
    expect(await readdir(path.join(project.folder, '.git'))).not.toContain('mahabharatha-worktrees.lock');
  });

  it('completes 300 trivial tasks', async () => {
    project = await createProject();
    const ids = Array.from({ length: 300 }, (_, index) => `T-${index}`);
    await project.graph(
      'login',
      ids.map((id) => ({ id, create: [`out/${id}`], run: `mkdir -p out; echo ${id} > out/${id}` })),
    );

    const run = await project.cli('kurukshetra', '--workers', '4', '--json');

    expect(run.exit).toBe(0);
    expect(
      project.git('ls-tree', '--name-only', 'mahabharatha/login/integration', 'out/').trim().split('\n'),
    ).toHaveLength(300);
    const { tasks } = await project.state();
    expect(
      Object.values(tasks).filter(
        ({ status, merged, attempts }) => status === 'complete' && merged && attempts.length === 1,
      ),
    ).toHaveLength(300);
  });

  it('goes on to the next existing level when numbers are left out', async () => {
    project = await createProject();
    await project.graph('login', [
      timed('LATE', 'cat EARLY.txt', { level: 7, dependencies: ['MIDDLE'] }),
      timed('EARLY', 'true', { level: 1 }),
      timed('MIDDLE', 'cat EARLY.txt', { level: 3 }),
    ]);

    expect((await project.cli('kurukshetra', '--workers', '2')).exit).toBe(0);

    expect((await intervals()).map(({ task }) => task)).toEqual(['EARLY', 'MIDDLE', 'LATE']);
    expect(Object.entries((await project.state()).levels).map(([level, { status }]) => [level, status])).toEqual([
      ['1', 'complete'],
      ['3', 'complete'],
      ['7', 'complete'],
    ]);
  });

  it('works levels out from the dependencies when the graph names none', async () => {
    project = await createProject();
    await project.graph('login', [
      timed('THIRD', 'cat SECOND.txt', { dependencies: ['SECOND'] }),
      timed('FIRST', 'true'),
      timed('OTHER', 'true'),
      timed('SECOND', 'cat FIRST.txt', { dependencies: ['FIRST'] }),
    ]);

    expect((await project.cli('kurukshetra', '--workers', '2')).exit).toBe(0);

    const { tasks } = await project.state();
    expect(Object.fromEntries(Object.entries(tasks).map(([id, { level }]) => [id, level]))).toEqual({
      THIRD: 3,
      FIRST: 1,
      OTHER: 1,
      SECOND: 2,
    });
  });
});

/** Begins, then waits for the test's word. */
const waiting = (id: string): TestTask => timed(id, `until [ -e "$OUTSIDE/go-${id}" ]; do sleep 0.02; done`);
const go = (id: string): Promise<void> => writeFile(path.join(project.outside, `go-${id}`), '');
const begun = (...ids: readonly string[]): Promise<unknown> =>
  waitFor(`${ids.join(', ')} to begin`, async () => {
    const running = await intervals();
    return ids.every((id) => running.some(({ task }) => task === id));
  });

describe('several runs in one repository', () => {
  it('builds two features at once, and neither disturbs the other', async () => {
    project = await createProject();
    const names = ['login', 'login.x'];
    const first = names.map((name) => `${name.replace('.', '-')}-1`);
    for (const [index, name] of names.entries()) {
      const id = first[index] ?? '';
      await project.graph(name, [waiting(id), timed(`${id}-b`, 'true', { level: 2, verify: `test -s ${id}.txt` })]);
    }
    const runs = names.map((name) => project.start('kurukshetra', '--feature', name, '--workers', '2'));
    await begun(...first);
    for (const id of first) await go(id);

    expect((await Promise.all(runs.map(({ end }) => end))).map(({ exit }) => exit)).toEqual([0, 0]);

    for (const [index, name] of names.entries()) {
      const files = project.git('ls-tree', '--name-only', `mahabharatha/${name}/integration`).trim().split('\n');
      expect(files).toEqual(['README.md', `${first[index]}-b.txt`, `${first[index]}.txt`]);
    }
    // Clean up the one; the other is still whole.
    expect((await project.cli('cleanup', '--feature', 'login', '--yes')).exit).toBe(0);
    expect((await project.cli('merge', '--feature', 'login.x')).exit).toBe(0);
  });

  it('refuses commands that would disturb a live run, and the run goes on', async () => {
    project = await createProject();
    await project.graph('login', [waiting('T-1')]);
    const run = project.start('kurukshetra');
    await begun('T-1');

    const attempts = [['kurukshetra'], ['kurukshetra', '--resume'], ['cleanup', '--yes'], ['merge']];
    for (const args of attempts) {
      const refused = await project.cli(...args);
      expect([args, refused.exit]).toEqual([args, 2]);
      expect(refused.stderr).toMatch(new RegExp(`Feature "login" is (already )?being built.* by process ${run.pid}`));
      expect(refused.stderr).toContain('mahabharatha stop --feature login');
    }
    expect((await project.cli('status')).stdout).toContain(`running (`);
    await go('T-1');

    expect((await run.end).exit).toBe(0);
    const again = await project.cli('kurukshetra');
    expect(again.exit).toBe(2);
    expect(again.stderr).toMatch(/already has a run \(complete\)\.[^]*mahabharatha merge --feature login/);
  });
});
