import { utimes } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const inOwn = (...parts: string[]): string => path.join(project.folder, '.mahabharatha', ...parts);

/** The minutes after midnight at which a file was written last. */
const writtenAt = (file: string, minutes: number): Promise<void> =>
  utimes(file, new Date(2026, 0, 1, 0, minutes), new Date(2026, 0, 1, 0, minutes));

describe('a command without --feature', () => {
  it('takes the feature that is meant, and says which: not the example of init, and not one of several to merge', async () => {
    await project.cli('init');
    for (const feature of ['login', 'search', 'upload']) {
      await project.graph(feature, [simpleTask(`${feature}-1`)]);
      await writtenAt(inOwn('specs', feature, 'task-graph.json'), feature === 'search' ? 1 : 0);
    }

    const plan = await project.cli('kurukshetra', '--dry-run', '--json');
    expect(JSON.parse(plan.stdout)).toMatchObject({ type: 'plan', feature: 'search' });
    expect(plan.stderr).toBe('note: feature search, because it has no run and was changed last\n');
    await writtenAt(inOwn('specs', 'search', 'task-graph.json'), 0);
    const unclear = await project.cli('kurukshetra', '--dry-run');
    expect([unclear.exit, unclear.stderr]).toEqual([
      2,
      expect.stringMatching(/not clear which feature is meant: login, search, upload\.[^]*--feature NAME/),
    ]);

    expect((await project.cli('kurukshetra', '--feature', 'login')).exit).toBe(0);
    const merge = await project.cli('merge', '--dry-run');
    expect([merge.exit, merge.stderr]).toEqual([0, 'note: feature login, because it is the only one with a run\n']);
    expect((await project.cli('kurukshetra', '--feature', 'upload')).exit).toBe(0);
    await writtenAt(inOwn('state', 'login.json'), 1);
    await writtenAt(inOwn('state', 'upload.json'), 0);
    const status = await project.cli('status');
    expect(status.stdout).toMatch(/^Feature login: complete/);
    expect(status.stderr).toBe('note: feature login, because its run is the newest\n');
    expect((await project.cli('status', '--json')).stdout).toMatch(/^\{"type":"status",.*\}\n$/);
    expect((await project.cli('check')).stderr).toBe(
      'note: feature search, because it is the only one without a run\n',
    );
    for (const verb of ['merge', 'cleanup']) {
      const refused = await project.cli(verb, '--dry-run');
      expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('meant: login, upload.')]);
    }
  });

  it('is not built again after merge and cleanup: it stays merged, also in a fresh clone', async () => {
    for (const feature of ['login', 'search']) await project.graph(feature, [simpleTask(feature)]);
    project.commit('two features');
    await writtenAt(inOwn('specs', 'search', 'task-graph.json'), 0);
    expect((await project.cli('kurukshetra', '--feature', 'login')).exit).toBe(0);
    expect((await project.cli('merge', '--feature', 'login')).exit).toBe(0);
    const commit = project.git('rev-parse', 'HEAD').trim();
    expect((await project.cli('cleanup', '--feature', 'login', '--yes')).exit).toBe(0);

    const list = await project.cli('list');
    expect(list.stdout).toContain(`login   merged`);
    expect(list.stdout).toContain(`merged in commit ${commit.slice(0, 10)}`);
    expect((await project.cli('status', 'login')).stdout).toMatch(
      new RegExp(`^login: no run any more; it is merged in commit ${commit.slice(0, 10)}\\.[^]*--again\n$`),
    );
    const plan = await project.cli('kurukshetra', '--dry-run', '--json');
    expect(JSON.parse(plan.stdout)).toMatchObject({ feature: 'search' });
    const named = await project.cli('kurukshetra', '--feature', 'login');
    expect([named.exit, named.stderr]).toEqual([
      2,
      expect.stringMatching(new RegExp(`"login" was merged already, in commit ${commit.slice(0, 10)}[^]*--again`)),
    ]);
    const clone = path.join(project.outside, 'clone');
    project.git('clone', '--quiet', project.folder, clone);
    const inClone = await project.at(clone).cli('list', '--json');
    expect(JSON.parse(inClone.stdout)).toMatchObject({
      features: [{ feature: 'login', standing: 'merged' }, { feature: 'search' }],
    });
    expect((await project.cli('kurukshetra', '--feature', 'login', '--again')).stdout).toContain('login');
    expect(await project.state()).toMatchObject({ feature: 'login' });
  });

  it('takes the one that runs now', async () => {
    await project.graph('login', [simpleTask('A')]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    const waits = 'until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done; echo B > B.txt';
    await project.graph('search', [simpleTask('B', { run: waits })]);
    const run = project.start('kurukshetra', '--feature', 'search');
    await waitFor('the run has begun', () => run.output().includes('attempt 1'));

    const status = await project.cli('status');
    expect(status.stdout).toMatch(/^Feature search: running/);
    expect(status.stderr).toBe('note: feature search, because it runs now\n');
    const again = await project.cli('kurukshetra');
    expect([again.exit, again.stderr]).toEqual([2, expect.stringContaining('"search"')]);
    const stopped = await project.cli('stop');
    expect(stopped.stdout).toMatch(/^Run of "search" is stopped/);
    expect((await run.end).exit).toBe(143);
  });
});

it('a path on the command line begins in the current folder, also below the top of the repository', async () => {
  await project.write(
    'deep/down/graph.json',
    JSON.stringify({ feature: 'login', version: '2.0', tasks: [{ id: 'A', title: 'A' }] }),
  );
  await project.write('deep/down/words.md', 'People log in by mail.\n');
  const below = project.at(path.join(project.folder, 'deep', 'down'));
  for (const args of [['kurukshetra', '--dry-run'], ['check']]) {
    const told = await below.cli(...args, '--task-graph', 'graph.json', '--json');
    expect([told.exit, JSON.parse(told.stdout)]).toEqual([0, expect.objectContaining({ feature: 'login' })]);
    const missing = await below.cli(...args, '--task-graph', 'deep/down/graph.json');
    expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('deep/down/deep/down/graph.json')]);
  }
  expect((await below.cli('plan', 'login', '--from', 'words.md', '--without-agent')).exit).toBe(0);
  expect(await project.read('.mahabharatha/specs/login/requirements.md')).toContain('People log in by mail.');
});

it('a feature without a run is shown as what it is, with the next step, by status', async () => {
  await project.graph('login', [simpleTask('a'), simpleTask('b')]);
  const { exit, stdout } = await project.cli('status', 'login');
  expect([exit, stdout]).toEqual([
    0,
    'login: no run yet.\nRequirements: none\nTask graph: 2 tasks in 1 level\n\nNext: mahabharatha kurukshetra --feature login\n',
  ]);
  await project.write('.mahabharatha/specs/login/task-graph.json', '{ "tasks": [');
  const broken = await project.cli('status', 'login', '--json');
  expect(JSON.parse(broken.stdout)).toMatchObject({
    type: 'planning',
    requirements: null,
    graph: true,
    graphProblem: expect.stringContaining('task-graph.json'),
    next: 'mahabharatha check login',
  });
});
