import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectBuilt, tracedTask, withChaos } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import type { TestProject } from '../support/project.ts';

const BRANCH = 'mahabharatha/login/integration';
const TASKS = ['A', 'B', 'C'];

/** Two levels, so that the later one is made on what the earlier one has published. */
async function threeTasks(chaos: Chaos, rest: { C?: string } = {}): Promise<void> {
  await chaos.project.config('workers: { count: 1 }\nretry: { attempts: 1 }\n');
  const seconds = 0;
  await chaos.project.graph('login', [
    tracedTask(chaos, 'A', { level: 1, seconds }),
    tracedTask(chaos, 'B', { level: 1, seconds }),
    tracedTask(chaos, 'C', { level: 2, seconds, ...(rest.C === undefined ? {} : { run: rest.C }) }),
  ]);
}

/** Takes an object away, as a `git prune` does; returns what puts it back. */
async function lose(project: TestProject, revision: string): Promise<() => Promise<void>> {
  const id = project.git('rev-parse', revision).trim();
  const file = path.join(project.folder, '.git', 'objects', id.slice(0, 2), id.slice(2));
  const bytes = await readFile(file);
  await rm(file, { force: true });
  return () => writeFile(file, bytes);
}

describe('of the integration branch a prune has taken', () => {
  it.each([
    ['the last commit', BRANCH],
    ['the tree of the last commit', `${BRANCH}^{tree}`],
    ['the commit of a task of the last level', `${BRANCH}^2`],
    ['the commit that ended an earlier level', `${BRANCH}^`],
    ['a merge within an earlier level', `${BRANCH}~2`],
    ['the commit of a task of an earlier level', `${BRANCH}~2^2`],
  ])('%s: merge refuses it, and a resume makes it again', (_, revision) =>
    withChaos(async (chaos) => {
      const { project } = chaos;
      await threeTasks(chaos);
      expect((await project.cli('kurukshetra')).exit).toBe(0);
      const gone = project.git('rev-parse', revision).trim();
      await lose(project, revision);

      const merge = await project.cli('merge');
      expect([merge.exit, merge.stderr]).toEqual([4, expect.stringContaining('has not all of mahabharatha')]);
      expect(merge.stderr).toContain(gone.slice(0, 12));
      expect(merge.stderr).toContain('--resume');

      const resumed = await project.cli('kurukshetra', '--resume');
      // Other objects of the lost commits are still there, and no ref needs them.
      project.git('-c', 'gc.pruneExpire=now', 'gc', '--quiet');
      await expectBuilt(chaos, resumed, TASKS);
      expect(resumed.stdout).toContain(`${BRANCH} is back at`);
      expect(resumed.stdout).toContain(gone.slice(0, 12));
      expect((await project.cli('merge')).exit).toBe(0);
    }),
  );

  it('merges, but no commit of a task: the tasks are merged again and not done again', () =>
    withChaos(async (chaos) => {
      await threeTasks(chaos);
      expect((await chaos.project.cli('kurukshetra')).exit).toBe(0);
      await lose(chaos.project, BRANCH);
      await expectBuilt(chaos, await chaos.project.cli('kurukshetra', '--resume'), TASKS);
      expect((await chaos.ran()).map(({ task }) => task)).toEqual(TASKS);
    }));

  it('what the run began from: the run says what is gone and what to do, and goes on when it is back', () =>
    withChaos(async (chaos) => {
      const { project } = chaos;
      await threeTasks(chaos);
      expect((await project.cli('kurukshetra')).exit).toBe(0);
      const clone = path.join(chaos.outside, 'clone');
      project.git('clone', '--quiet', '--no-hardlinks', project.folder, clone);
      const gone = project.git('rev-parse', 'main:README.md').trim();
      await lose(project, 'main:README.md');

      const resumed = await project.cli('kurukshetra', '--resume');
      expect([resumed.exit, resumed.stderr]).toEqual([4, expect.stringContaining('has not all of mahabharatha')]);
      expect(resumed.stderr).toContain(gone.slice(0, 12));
      expect(resumed.stderr).toContain('git fetch --refetch');
      expect((await project.state()).status).toBe('stopped');

      project.git('fetch', '--quiet', '--refetch', clone);
      await expectBuilt(chaos, await project.cli('kurukshetra', '--resume'), TASKS);
    }));
});

it('a branch that was removed: merge says how to get it back, and a resume makes it again', () =>
  withChaos(async (chaos) => {
    const { project } = chaos;
    await threeTasks(chaos);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    const tip = project.git('rev-parse', BRANCH);
    project.git('branch', '-D', BRANCH);

    const merged = await project.cli('merge');

    expect([merged.exit, merged.stderr]).toEqual([2, expect.stringContaining(`branch "${BRANCH}" is gone`)]);
    expect(merged.stderr).toContain('mahabharatha kurukshetra --feature login --resume');
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    expect(project.git('rev-parse', BRANCH)).toBe(tip);
    expect((await project.cli('merge')).exit).toBe(0);
  }));

it.each([
  ['a tree', '^{tree}'],
  ['a commit', ''],
])('a run that loses %s of its published work while it runs stops and says so, and a resume ends it', (_, suffix) =>
  withChaos(async (chaos) => {
    const { project } = chaos;
    const object = `$(git rev-parse ${BRANCH}${suffix})`;
    const prune = `o=${object}; rm -f "${project.folder}/.git/objects/\${o:0:2}/\${o:2}"`;
    const once = `if mkdir '${chaos.outside}/once'; then ${prune}; fi; echo "made by C" > C.txt`;
    await threeTasks(chaos, { C: once });

    const run = await project.cli('kurukshetra');

    expect([run.exit, run.stderr]).toEqual([4, expect.stringContaining('has not all of mahabharatha')]);
    expect(await project.state()).toMatchObject({ status: 'stopped', cause: expect.stringContaining('Gone:') });
    const resumed = await project.cli('kurukshetra', '--resume');
    project.git('prune', '--expire=now');
    await expectBuilt(chaos, resumed, TASKS);
  }),
);
