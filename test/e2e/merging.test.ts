import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask, waitFor } from '../support/project.ts';
import type { RunState } from '../../src/state/index.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

/** A git whose n-th merge waits for a file `merge-<n>`, or for the end of its caller. */
const SLOW_GIT = `#!/bin/bash
PATH=\${PATH#*:}
if [[ " $* " == *" merge-tree "* ]]; then
  echo >> "$OUTSIDE/merges"
  own=$(wc -l < "$OUTSIDE/merges")
  until [ -e "$OUTSIDE/merge-$own" ]; do kill -0 $PPID || exit 1; sleep 0.02; done
fi
exec git "$@"
`;

beforeEach(async () => {
  project = await createProject();
  const bin = path.join(project.outside, 'bin');
  await mkdir(bin);
  await writeFile(path.join(bin, 'git'), SLOW_GIT);
  await chmod(path.join(bin, 'git'), 0o755);
  project.env['PATH'] = `${bin}:${project.env['PATH']}`;
  await project.graph(
    'login',
    ['A', 'B', 'C', 'D'].map((id) => simpleTask(id)),
  );
});
afterEach(() => project.remove());

const allow = async (...merges: number[]): Promise<void> => {
  for (const merge of merges) await writeFile(path.join(project.outside, `merge-${merge}`), '');
};
const begun = async (merges: number): Promise<boolean> => {
  const lines = await readFile(path.join(project.outside, 'merges'), 'utf8').catch(() => '');
  return lines.length >= merges;
};
const told = async (type: string): Promise<string[]> =>
  (await project.events().catch(() => [])).flatMap((event) =>
    event.type === type && 'task' in event ? [event.task] : [],
  );
const files = (): string[] =>
  project.git('ls-tree', '--name-only', 'mahabharatha/login/integration').trim().split('\n').toSorted();

describe('merging', () => {
  it('goes on beside the work: a slow merge delays no task, and status shows each one', async () => {
    const run = project.start('kurukshetra', '--workers', '1');
    await waitFor('the first merge has begun', () => begun(1));
    await waitFor('all tasks are done', async () => (await told('attempt-accepted')).length === 4);
    expect(await told('task-merged')).toEqual([]);
    await allow(1);
    await waitFor('the second merge has begun', () => begun(2));
    const status = await waitFor('the first merge is recorded', async () => {
      const view = JSON.parse((await project.cli('status', '--json')).stdout) as RunState;
      return view.levels['1']?.trial?.tasks.length === 1 && view;
    });
    expect(status.tasks['A']).toMatchObject({ status: 'complete', merged: false });
    await allow(2, 3, 4);
    expect((await run.end).exit).toBe(0);
    const state = await project.state();
    expect(Object.values(state.tasks).every(({ merged }) => merged)).toBe(true);
    expect(files()).toEqual(['A.txt', 'B.txt', 'C.txt', 'D.txt', 'README.md']);
  });

  it('is not repeated after a kill, as far as it was recorded', async () => {
    const run = project.start('kurukshetra', '--workers', '1');
    await waitFor('the first merge has begun', () => begun(1));
    await waitFor('all tasks are done', async () => (await told('attempt-accepted')).length === 4);
    await allow(1);
    await waitFor('the second merge has begun', () => begun(2));
    await waitFor('the first merge is recorded', async () => (await told('task-merged')).length === 1);
    run.child.kill('SIGKILL');
    await run.end;
    await allow(2, 3, 4, 5, 6);

    const resumed = await project.cli('kurukshetra', '--resume', '--workers', '1');

    expect(resumed.exit).toBe(0);
    expect((await told('task-merged')).toSorted()).toEqual(['A', 'B', 'C', 'D']);
    expect(files()).toEqual(['A.txt', 'B.txt', 'C.txt', 'D.txt', 'README.md']);
  });

  it('ends when the run is stopped, and finished merges count', async () => {
    const run = project.start('kurukshetra', '--workers', '1');
    await waitFor('the first merge has begun', () => begun(1));
    await waitFor('all tasks are done', async () => (await told('attempt-accepted')).length === 4);
    await allow(1);
    await waitFor('the second merge has begun', () => begun(2));
    run.child.kill('SIGINT');
    await waitFor('the stop is taken', () => run.output().includes('SIGINT: stopping'));
    await allow(2);
    expect((await run.end).exit).toBe(130);
    const { levels } = await project.state();
    expect(levels['1']?.trial?.tasks).toEqual(await told('task-merged'));
    expect(await begun(3)).toBe(false);
    await allow(3, 4, 5);
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect((await told('task-merged')).toSorted()).toEqual(['A', 'B', 'C', 'D']);
  });
});
