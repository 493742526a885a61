import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectSound } from '../support/check-run.ts';
import { createProject, simpleTask as task } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
  await project.config('retry: { attempts: 1 }\n');
});
afterEach(() => project.remove());

const fails = (id: string, rest: Partial<TestTask> = {}): TestTask => task(id, { run: 'exit 1', ...rest });

async function startedWith(...tasks: readonly TestTask[]): Promise<void> {
  await project.graph('login', tasks);
  expect((await project.cli('kurukshetra')).exit).toBe(1);
}

async function resumedWith(exit: number, ...tasks: readonly TestTask[]): Promise<Record<string, string>> {
  await project.graph('login', tasks);
  const end = await project.cli('kurukshetra', '--resume');
  expect(end.exit, end.stdout + end.stderr).toBe(exit);
  expectSound(project, 'after an edited graph');
  const { tasks: now } = await project.state();
  return Object.fromEntries(Object.entries(now).map(([id, { status }]) => [id, status]));
}

describe('a task graph that is edited between a failed run and its resume', () => {
  it('frees a task that no longer needs the failed one', async () => {
    await startedWith(fails('A'), task('B'), task('C', { dependencies: ['A'] }), task('D', { dependencies: ['C'] }));
    const freed = [task('C', { level: 2 }), task('D', { dependencies: ['C'] })];
    expect(await resumedWith(1, fails('A'), task('B'), ...freed)).toEqual({
      A: 'failed',
      B: 'complete',
      C: 'complete',
      D: 'complete',
    });
  });

  it('keeps a task blocked that still needs the failed one, directly or through another', async () => {
    const needing = [task('C', { dependencies: ['A'] }), task('D', { dependencies: ['C'] })];
    await startedWith(fails('A'), ...needing);
    const now = await resumedWith(1, fails('A'), task('B'), ...needing);
    expect(now).toEqual({ A: 'failed', B: 'complete', C: 'blocked', D: 'blocked' });
    const blocked = (await project.events()).filter(({ type }) => type === 'task-blocked');
    expect(blocked).toHaveLength(2);
  });

  it('opens a level that is over for a task that has been moved to it', async () => {
    await startedWith(task('A', { level: 1 }), fails('B', { level: 2 }), task('C', { dependencies: ['B'] }));
    const now = await resumedWith(1, task('A', { level: 1 }), fails('B', { level: 2 }), task('C', { level: 1 }));
    expect(now).toEqual({ A: 'complete', B: 'failed', C: 'complete' });
  });
});
