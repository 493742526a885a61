import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkoutOf } from '../support/checkout.ts';
import { createProject } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

let project: TestProject;

afterEach(() => project.remove());

/** Writes its file once three tasks are there: each must be with a worker of its own. */
function meeting(id: string, file: string): TestTask {
  const meet = `touch "$OUTSIDE/${id}"; until [ "$(ls "$OUTSIDE" | grep -c ^L1-)" = 3 ]; do sleep 0.02; done`;
  return { id, level: 1, create: [file], run: `${meet}; mkdir -p "$(dirname '${file}')"; echo ${id} > '${file}'` };
}

/** Level 1 is done by three workers at once; the task of level 2 needs the files of all three. */
const TWO_LEVELS: readonly TestTask[] = [
  meeting('L1-a', 'src/a.txt'),
  meeting('L1-b', 'größe/b 1.txt'),
  meeting('L1-c', "it's [c] $HOME.txt"),
  {
    id: 'L2-all',
    level: 2,
    dependencies: ['L1-a', 'L1-b', 'L1-c'],
    create: ['all.txt'],
    run: `cat src/a.txt größe/b* it*c* > all.txt`,
    verify: 'test "$(wc -l < all.txt)" = 3',
  },
].map((task) =>
  // A single quote in the name of a file ends the shell's quote in the command above.
  task.id === 'L1-c'
    ? { ...task, run: task.run?.replace(/mkdir.*/, `echo L1-c > "it's [c] \\$HOME.txt"`) ?? '' }
    : task,
);

const MADE = ['all.txt', 'größe/b 1.txt', "it's [c] $HOME.txt", 'src/a.txt'];

function filesIn(repository: TestProject, ref: string): string[] {
  return repository
    .git('ls-tree', '-r', '-z', '--full-tree', '--name-only', ref)
    .split('\0')
    .filter((file) => file !== '' && !file.startsWith('.mahabharatha/'));
}

const INTEGRATION = 'mahabharatha/login/integration';

interface Circumstance {
  readonly when: string;
  readonly name?: string;
  /** Brings it about; returns the place where the user works. */
  prepare(project: TestProject): Promise<TestProject | undefined>;
}

const HOOKS = (
  'applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit ' +
  'pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update ' +
  'reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change'
).split(' ');

const CIRCUMSTANCES: readonly Circumstance[] = [
  {
    when: 'with staged, unstaged and untracked changes, and .mahabharatha not committed',
    prepare: async (project) => {
      for (const file of ['gone.txt', 'moved.txt', 'staged.txt']) await project.write(file, `${file}\n`);
      project.commit('more files');
      project.git('rm', '--quiet', 'gone.txt');
      project.git('mv', 'moved.txt', 'new-name.txt');
      await project.write('staged.txt', 'staged\n');
      await project.write('half.txt', 'half\n');
      project.git('add', 'staged.txt', 'half.txt');
      await project.write('staged.txt', 'and changed again\n');
      await project.write('README.md', 'changed\n');
      await project.write('all.txt', 'the user has a file of this name, and git does not know it\n');
      project.git('stash', 'store', project.git('stash', 'create').trim());
      return undefined;
    },
  },
  {
    when: 'with a detached HEAD, and started in a folder below the top',
    prepare: async (project) => {
      await project.write('deep/down/file.txt', 'here\n');
      project.commit('the specs');
      project.git('switch', '--quiet', '--detach', 'HEAD');
      return project.at(path.join(project.folder, 'deep', 'down'));
    },
  },
  {
    when: 'in a repository that is itself a worktree, with a submodule',
    prepare: async (project) => {
      const other = path.join(path.dirname(project.folder), 'other');
      project.git('clone', '--quiet', '.', other);
      const folder = path.join(path.dirname(project.folder), 'linked');
      project.git('worktree', 'add', '--quiet', '-b', 'linked', folder);
      const linked = project.at(folder);
      await linked.graph('login', TWO_LEVELS);
      linked.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'lib/other');
      linked.commit('a submodule');
      await linked.write('lib/other/README.md', 'changed in the submodule\n');
      return linked;
    },
  },
  {
    when: 'with other alphabets and quotes in the path, and hooks of every kind, all of which fail',
    name: `mein "prøject" it's $HOME ü महाभारत`,
    prepare: async (project) => {
      project.commit('the specs');
      project.git('config', 'core.fsmonitor', '.git/hooks/fsmonitor-watchman');
      project.git('config', 'commit.gpgSign', 'true');
      for (const hook of HOOKS) {
        const text = `#!/bin/sh\necho ${hook} >> "${project.outside}/hooks-that-ran"\nexit 1\n`;
        await writeFile(path.join(project.folder, '.git', 'hooks', hook), text, { mode: 0o755 });
      }
      return undefined;
    },
  },
];

describe('building a feature of two levels with three workers', () => {
  it.each(CIRCUMSTANCES)(
    'brings all files together and touches nothing of the user $when',
    async ({ name, prepare }) => {
      project = await createProject(name === undefined ? {} : { name });
      await project.graph('login', TWO_LEVELS);
      const here = (await prepare(project)) ?? project;
      const before = checkoutOf(here);
      const base = here.git('rev-parse', 'HEAD').trim();

      const run = await here.cli('kurukshetra', '--feature', 'login', '--workers', '3');

      expect(run.stderr + run.stdout).toContain('4 of 4 tasks');
      expect(run.exit).toBe(0);
      expect(checkoutOf(here)).toEqual(before);
      expect(filesIn(here, INTEGRATION)).toEqual([...filesIn(here, base), ...MADE].toSorted());
      expect(here.git('show', `${INTEGRATION}:all.txt`)).toBe('L1-a\nL1-b\nL1-c\n');
      expect(await readdir(project.outside)).not.toContain('hooks-that-ran');
    },
  );

  it('starts from --base, and makes one commit per task, by our own name, with task, attempt and run', async () => {
    project = await createProject();
    await project.graph('login', TWO_LEVELS);
    project.git('config', 'user.name', 'Another Author');
    await project.write('later.txt', 'later\n');
    project.commit('later');

    await project.cli('kurukshetra', '--workers', '3', '--base', 'HEAD~1');

    const { runId, status } = await project.state();
    expect(status).toBe('complete');
    const format = '%an|%ae|%cn|%ce|%s|%(trailers:separator=%x2C)';
    const log = project.git('log', '--no-merges', `--format=${format}`, `main~1..${INTEGRATION}`).trim().split('\n');
    const us = 'Mahabharatha|mahabharatha@localhost|Mahabharatha|mahabharatha@localhost';
    const lineOf = (id: string): string =>
      `${us}|${id}: Task ${id}|Mahabharatha-Feature: login,Mahabharatha-Task: ${id},Mahabharatha-Attempt: ${id}.1,Mahabharatha-Run: ${runId}`;
    expect(log.toSorted()).toEqual(['L1-a', 'L1-b', 'L1-c', 'L2-all'].map(lineOf));
    const merges = project.git('log', '--merges', '--format=%cn %(trailers)', `main~1..${INTEGRATION}`);
    expect(merges.match(new RegExp(`Mahabharatha Mahabharatha-Run: ${runId}`, 'g'))).toHaveLength(4);
    expect(project.git('config', '--local', 'user.name')).toBe('Another Author\n');
    // It started from --base, not from what is checked out.
    expect(filesIn(project, INTEGRATION)).toEqual(['README.md', ...MADE].toSorted());
  });
});

describe('merging a finished feature', () => {
  const ORIG_HEAD = 'project/.git/ORIG_HEAD';

  const refused = async (args: readonly string[], exit: number): Promise<string> => {
    const before = checkoutOf(project);
    const merge = await project.cli('merge', ...args);
    expect(merge.exit).toBe(exit);
    // git notes where it was before it tries.
    expect({ ...checkoutOf(project), [ORIG_HEAD]: before[ORIG_HEAD] }).toEqual({
      ...before,
      [ORIG_HEAD]: before[ORIG_HEAD],
    });
    return merge.stderr;
  };

  it('brings it into any branch, says what would change, and changes nothing when it cannot', async () => {
    project = await createProject();
    await project.graph('login', [
      ...TWO_LEVELS,
      { id: 'L2-readme', level: 2, modify: ['README.md'], run: 'echo "## Built" >> README.md' },
    ]);
    project.commit('the specs');
    project.git('branch', 'other');
    const second = project.at(path.join(path.dirname(project.folder), 'second tree'));
    project.git('worktree', 'add', '--quiet', '-b', 'second', second.folder);
    await project.cli('kurukshetra', '--workers', '3');
    const files = ['README.md', ...MADE];

    // Only a look.
    const before = checkoutOf(project);
    const look = await project.cli('merge', '--dry-run', '--json');
    expect(JSON.parse(look.stdout)).toMatchObject({ type: 'merge', kind: 'would-merge', into: 'main', files });
    expect(checkoutOf(project)).toEqual(before);

    // A branch that is not checked out.
    expect((await project.cli('merge', '--into', 'other')).exit).toBe(0);
    expect(filesIn(project, 'other')).toEqual(files.toSorted());
    expect(project.git('log', '-1', '--format=%an <%ae>', 'other')).toBe('Test User <user@example.org>\n');
    const after = Object.entries(checkoutOf(project)).filter(([file]) => !file.endsWith('heads/other'));
    expect(before).toMatchObject(Object.fromEntries(after));

    // A branch that is checked out elsewhere: its working tree moves along.
    expect((await project.cli('merge', '--into', 'second')).exit).toBe(0);
    expect(await readdir(second.folder)).toEqual(expect.arrayContaining(['all.txt', 'src']));
    expect(second.git('status', '--porcelain')).toBe('');
    expect(await readdir(project.folder)).not.toContain('all.txt');

    // Local changes are in the way.
    await project.write('README.md', 'my own words\n');
    const inTheWay = /main is checked out in .*README\.md.*Nothing was changed/s;
    expect(await refused([], 1)).toMatch(inTheWay);
    expect(await refused(['--dry-run'], 1)).toMatch(inTheWay);
    project.git('checkout', '--quiet', 'README.md');
    await project.write('all.txt', 'my own, and git does not know it\n');
    expect(await refused([], 1)).toMatch(/all\.txt.*Nothing was changed/s);
    project.git('clean', '--quiet', '--force');

    // The user has changed the same files meanwhile, and committed it.
    project.git('switch', '--quiet', '-c', 'mine');
    await project.write('README.md', '# Other words\n');
    await project.write('all.txt', 'mine\n');
    project.commit('my own work');
    const stderr = await refused([], 1);
    expect(stderr).toMatch(/changed 2 files: README\.md, all\.txt\. Nothing was changed/);
    expect(stderr).toContain('git switch mine && git merge mahabharatha/login/integration');
    expect(await refused(['--dry-run'], 1)).toContain('README.md');

    // The user has committed something else: both are in afterwards, and unrelated local changes stay.
    project.git('switch', '--quiet', 'main');
    await project.write('own.txt', 'own\n');
    project.commit('unrelated');
    await project.write('own.txt', 'changed\n');
    const merge = await project.cli('merge');
    expect(merge.stderr).toBe('');
    expect(merge.stdout).toContain('Merged: main has everything of "login"');
    expect(project.git('status', '--porcelain')).toBe(' M own.txt\n');
    expect(filesIn(project, 'HEAD')).toEqual([...files, 'own.txt'].toSorted());
    expect(await readFile(path.join(project.folder, 'all.txt'), 'utf8')).toBe('L1-a\nL1-b\nL1-c\n');
    expect(project.git('log', '-1', '--format=%an|%s')).toBe('Test User|Merge feature login\n');

    // The status says it in the same words, and once is enough.
    expect((await project.cli('status')).stdout).toContain('\n  main, other, second have everything of "login"\n');
    const again = await project.cli('merge');
    expect([again.exit, again.stdout]).toEqual([0, 'Nothing to merge: main has everything of "login".\n']);
  });

  it('needs a finished run and a branch that exists', async () => {
    project = await createProject();
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: 'exit 7' }]);
    await project.config('retry: { attempts: 1 }\n');
    expect(await refused(['--feature', 'login'], 2)).toContain('There is no run of "login"');

    expect((await project.cli('kurukshetra')).exit).toBe(1);

    expect(await refused([], 1)).toMatch(/is failed, not complete.*--partial/s);
    expect(await refused(['--partial', '--into', 'nowhere'], 2)).toContain('"nowhere" is not a commit, branch or tag');
    project.git('switch', '--quiet', '--detach');
    expect(await refused(['--partial'], 2)).toMatch(/no branch is checked out.*--into BRANCH/s);
  });
});
