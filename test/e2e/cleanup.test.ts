import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask as task, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { fingerprint } from '../support/temp-repository.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

/** Every file there is; folders that git keeps though they are empty, and objects, which are garbage now, do not count. */
function files(): Record<string, string> {
  const all = fingerprint(project.folder, (file) => file.startsWith('.git/objects'));
  return Object.fromEntries(Object.entries(all).filter(([, what]) => what !== 'not a file'));
}

describe('cleanup', () => {
  it('leaves the repository as it was before the run, to the byte', async () => {
    await project.cli('init');
    await project.config('retry: { attempts: 2 }\nworkers: { copy: [".env"] }\n');
    await project.write('.env', 'secret\n');
    await project.graph('login', [
      task('A'),
      task('B', { run: 'echo $RANDOM > B.txt; exit 1' }),
      task('C', { level: 2 }),
    ]);
    await project.graph('login2', [task('A')]);
    const before = files();
    expect((await project.cli('kurukshetra', '--feature', 'login')).exit).toBe(1);
    expect(files()).not.toEqual(before);

    const look = await project.cli('cleanup', '--feature', 'login', '--dry-run');
    for (const words of [
      'worker-0',
      'mahabharatha/login/integration',
      'kept commits',
      '.mahabharatha/state/login.json',
      'Note: ',
    ]) {
      expect(look.stdout).toContain(words);
    }
    const clean = await project.cli('cleanup', '--feature', 'login', '--yes');

    expect([clean.exit, clean.stderr]).toEqual([0, '']);
    expect(files()).toEqual(before);
    expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
    expect(await readdir(path.join(project.folder, '.mahabharatha'))).toEqual([
      '.gitignore',
      'config.yaml',
      'schemas',
      'specs',
    ]);
    const again = await project.cli('cleanup', '--feature', 'login', '--yes');
    expect([again.exit, again.stdout]).toEqual([0, 'There is nothing of "login" to clean up.\n']);
  });

  it('never touches other features, also with similar names, nor what the user has checked out', async () => {
    await project.graph('login', [task('A'), task('B')]);
    await project.graph('login2', [task('A')]);
    for (const feature of ['login', 'login2']) {
      expect((await project.cli('kurukshetra', '--feature', feature, '--workers', '2')).exit).toBe(0);
    }
    const foreign = [
      'mahabharatha/login/mine',
      'mahabharatha/login/worker-1-mine',
      'mahabharatha/login/worker-',
      'mahabharatha/logins/worker-0',
    ];
    for (const branch of foreign) project.git('branch', branch);
    project.git('tag', 'mahabharatha/login/worker-0');
    project.git('update-ref', 'refs/mahabharatha-notes/login/A/1', 'HEAD');
    // Two more working trees of the user's: one on a branch of ours, one whose folder looks like ours.
    const elsewhere = path.join(path.dirname(project.folder), 'elsewhere');
    project.git('worktree', 'add', '--quiet', '--force', elsewhere, 'mahabharatha/login/integration');
    project.git(
      'worktree',
      'add',
      '--quiet',
      '--detach',
      path.join(project.folder, '.mahabharatha', 'worktrees', 'login-mine'),
    );

    const clean = await project.cli('cleanup', '--feature', 'login', '--yes');

    expect(clean.exit).toBe(0);
    expect(clean.stdout).toContain(`Kept: branch mahabharatha/login/integration, checked out in ${elsewhere}.`);
    const branches = project
      .git('for-each-ref', '--format=%(refname:short)', 'refs/heads/mahabharatha')
      .trim()
      .split('\n');
    expect(branches).toEqual(
      [
        ...foreign,
        'mahabharatha/login/integration',
        'mahabharatha/login2/integration',
        'mahabharatha/login2/worker-0',
      ].toSorted(),
    );
    const kept = project.git('for-each-ref', '--format=%(refname)', 'refs/mahabharatha');
    expect(kept).toContain('refs/mahabharatha/login2/A/1\n');
    expect(kept).not.toContain('refs/mahabharatha/login/');
    expect(
      project.git('for-each-ref', '--format=%(refname)', 'refs/mahabharatha-notes', 'refs/tags').trim().split('\n'),
    ).toHaveLength(2);
    const trees = project
      .git('worktree', 'list', '--porcelain')
      .match(/(?<=^worktree ).*/gm)
      ?.map((tree) => path.basename(tree));
    expect(trees?.toSorted()).toEqual(['elsewhere', 'login-mine', 'project']);
    expect(await readdir(elsewhere)).toEqual(expect.arrayContaining(['A.txt', 'B.txt']));
    expect((await project.cli('status', '--feature', 'login2')).stdout).toContain('Feature login2: complete');
    expect(await project.read('.mahabharatha/specs/login/task-graph.json')).toContain('"login"');
    expect((await project.cli('merge', '--feature', 'login2')).exit).toBe(0);
    // As soon as the user lets go of the branch, it goes as well.
    project.git('worktree', 'remove', '--force', elsewhere);
    expect((await project.cli('cleanup', '--feature', 'login', '--yes')).exit).toBe(0);
    expect(project.git('branch', '--list', 'mahabharatha/login/integration')).toBe('');
  });

  it('asks only at a terminal: without one and without --yes it changes nothing and exits 2', async () => {
    await project.graph('login', [task('A')]);
    await project.cli('kurukshetra');
    const before = files();

    const clean = await project.cli('cleanup');
    expect(clean.exit).toBe(2);
    expect(clean.stderr).toMatch(/Nothing was removed[^]*--dry-run; without a terminal add --yes/);
    expect((await project.cli('cleanup', '--dry-run', '--json')).exit).toBe(0);

    expect(files()).toEqual(before);
  });
});

describe('cleanup --all', () => {
  it('removes what is merged, also when it was squashed; live and unmerged runs stay unless they are meant', async () => {
    const features = ['merged', 'squashed', 'mine', 'broken'];
    for (const feature of features)
      await project.graph(feature, [task(feature, feature === 'broken' ? { run: 'exit 1' } : {})]);
    await project.config('retry: { attempts: 1 }\n');
    for (const feature of features) await project.cli('kurukshetra', '--feature', feature);
    expect((await project.cli('merge', '--feature', 'merged', '--no-ff')).exit).toBe(0);
    expect((await project.cli('merge', '--feature', 'squashed', '--squash')).exit).toBe(0);
    expect((await project.cli('status', 'squashed')).stdout).toContain('\n  main has everything of "squashed"\n');
    await project.graph('live', [task('L', { run: 'until [ -e "$OUTSIDE/go" ]; do sleep 0.02; done; echo > L.txt' })]);
    const run = project.start('kurukshetra', '--feature', 'live');
    await waitFor('the run has begun', () => run.output().includes('attempt 1'));
    const rows = JSON.parse((await project.cli('list', '--json')).stdout) as { features: object[] };
    expect(rows.features).toMatchObject([
      { feature: 'broken', standing: 'failed', tasks: { done: 0, total: 1 } },
      { feature: 'live', standing: 'running', cause: null },
      { feature: 'merged', standing: 'merged', tasks: { done: 1, total: 1 } },
      { feature: 'mine', standing: 'complete' },
      { feature: 'squashed', standing: 'merged' },
    ]);
    const runs = (): string[] =>
      project
        .git('for-each-ref', '--format=%(refname:short)', 'refs/heads/mahabharatha/*/integration')
        .trim()
        .split('\n');
    const before = runs();

    const look = await project.cli('cleanup', '--all', '--dry-run');
    for (const words of [
      'To be removed of feature "merged":',
      'To be removed of feature "squashed":',
      'Kept: the run of "broken": its run is failed and can go on.',
      `Kept: the run of "live": it runs now (process ${run.pid}).`,
      'Kept: the run of "mine": 2 commits are in no branch outside mahabharatha/.',
    ])
      expect(look.stdout).toContain(words);
    const unconfirmed = await project.cli('cleanup', '--all');
    expect([unconfirmed.exit, unconfirmed.stderr]).toEqual([2, expect.stringContaining('merged, squashed was not')]);
    expect(runs()).toEqual(before);

    const clean = await project.cli('cleanup', '--all', '--yes', '--json');
    const told = JSON.parse(clean.stdout) as { features: { feature: string; removed: boolean }[] };
    expect(told.features.filter(({ removed }) => removed).map(({ feature }) => feature)).toEqual([
      'merged',
      'squashed',
    ]);
    expect(runs()).toEqual(['broken', 'live', 'mine'].map((feature) => `mahabharatha/${feature}/integration`));
    const rest = await project.cli('cleanup', '--all', '--unmerged', '--yes');
    expect([rest.exit, rest.stdout]).toEqual([0, expect.stringMatching(/Removed broken\.\nRemoved mine\.\n$/)]);
    expect(runs()).toEqual(['mahabharatha/live/integration']);
    await project.write('../outside/go', '');
    expect((await run.end).exit).toBe(0);
  });

  it('keeps work that only runs have: of removed branches, looked at without a branch, and at the base of another run', async () => {
    for (const feature of ['removed', 'seen', 'base']) {
      await project.graph(feature, [task(feature)]);
      expect((await project.cli('kurukshetra', '--feature', feature)).exit).toBe(0);
    }
    await project.graph('above', [task('above', { create: [], run: 'true' })]);
    const above = await project.cli('kurukshetra', '--feature', 'above', '--base', 'mahabharatha/base/integration');
    expect(above.exit).toBe(0);
    project.git('branch', '-D', 'mahabharatha/removed/integration');
    project.git('switch', '--quiet', '--detach', 'mahabharatha/seen/integration');
    const before = project.git('for-each-ref');

    const rows = JSON.parse((await project.cli('list', '--json')).stdout) as { features: { standing: string }[] };
    expect(rows.features.map(({ standing }) => standing)).toEqual(Array.from({ length: 4 }, () => 'complete'));
    const clean = await project.cli('cleanup', '--all', '--yes');
    expect([clean.exit, clean.stdout]).toEqual([
      0,
      ['above', 'base', 'removed', 'seen']
        .map((feature) => `Kept: the run of "${feature}": 2 commits are in no branch outside mahabharatha/.\n`)
        .join(''),
    ]);
    expect(project.git('for-each-ref')).toBe(before);
    project.git('switch', '--quiet', 'main');
    project.git('merge', '--quiet', 'mahabharatha/base/integration');
    const rest = await project.cli('cleanup', '--all', '--yes');
    expect(rest.stdout).toMatch(/Removed above\.\nRemoved base\.\n$/);
  });

  it.each([
    [['--all', '--feature', 'login'], '--all and --feature do not go together'],
    [['--unmerged'], '--unmerged is for --all'],
  ])('with %j is refused', async (args, words) => {
    const { exit, stderr } = await project.cli('cleanup', ...args);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(words)]);
  });
});
