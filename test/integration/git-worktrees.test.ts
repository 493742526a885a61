import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository, openWorkspace } from '../../src/git/index.ts';
import { startNode } from '../support/node-process.ts';
import { fingerprint, tempRepository, writeFile } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const HOOKS = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-rewrite',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-rebase',
  'prepare-commit-msg',
  'reference-transaction',
  'update',
];

function workerFolder(repository: TempRepository, worker: number): string {
  return path.join(repository.folder, '.mahabharatha', 'worktrees', 'x', `worker-${worker}`);
}

const branchOf = (worker: number): string => `mahabharatha/x/worker-${worker}`;

describe('adding worktrees', () => {
  it('checks the base out on a branch of its own, locked, without an upstream', async () => {
    const temp = tempRepository();
    const base = temp.git('rev-parse', 'HEAD');
    temp.commit({ 'later.txt': 'later\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base });
    expect(readFileSync(path.join(folder, 'README.md'), 'utf8')).toBe('first\n');
    expect(existsSync(path.join(folder, 'later.txt'))).toBe(false);
    expect(temp.gitIn(folder, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${branchOf(0)}`);
    expect(temp.git('worktree', 'list', '--porcelain')).toContain('locked a Mahabharatha worker uses it');
    expect(temp.git('for-each-ref', '--format=%(upstream)', `refs/heads/${branchOf(0)}`)).toBe('');
  });

  it('adds 24 at once in one process', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const workers = Array.from({ length: 24 }, (_, worker) => worker);
    await Promise.all(
      workers.map((worker) =>
        repository.addWorktree({ folder: workerFolder(temp, worker), branch: branchOf(worker), base: 'main' }),
      ),
    );
    expect(await repository.listWorktrees()).toHaveLength(25);
    expect(temp.git('fsck')).toBe('');
  });

  it('adds 24 at once from four processes', async () => {
    const temp = tempRepository();
    const processes = [0, 1, 2, 3].map((part) =>
      startNode(
        `import { openRepository } from './git/index.js';
         const repository = await openRepository(process.env.REPOSITORY, process.env);
         const workers = [0, 1, 2, 3, 4, 5].map((n) => n + ${part * 6});
         await Promise.all(workers.map((n) => repository.addWorktree(
           { folder: process.env.REPOSITORY + '/.mahabharatha/worktrees/x/worker-' + n, branch: 'mahabharatha/x/worker-' + n, base: 'main' },
         )));`,
        { ...temp.env, REPOSITORY: temp.folder },
      ),
    );
    for (const { end } of processes) expect(await end).toEqual({ code: 0, signal: null, output: '' });
    const repository = await openRepository(temp.folder, temp.env);
    const branches = (await repository.listWorktrees()).map((tree) => tree.branch);
    expect(new Set(branches)).toEqual(new Set(['main', ...Array.from({ length: 24 }, (_, n) => branchOf(n))]));
  });

  it('replaces what was in the folder, and moves a branch that exists already', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    writeFile(path.join(folder, 'node_modules', 'old.js'), 'old');
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    writeFile(path.join(folder, 'half-done.txt'), 'half');
    temp.gitIn(folder, 'commit', '--quiet', '--allow-empty', '--message', 'Old work');
    const base = temp.commit({ 'new.txt': 'new\n' });
    await repository.addWorktree({ folder, branch: branchOf(0), base });
    expect(Object.keys(fingerprint(folder))).toEqual(['.git', 'README.md', 'new.txt']);
    expect(temp.gitIn(folder, 'rev-parse', branchOf(0), 'HEAD').split('\n')).toEqual([base, base]);
    expect(await repository.listWorktrees()).toHaveLength(2);
  });

  it('replaces a worktree whose folder was removed by hand', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    rmSync(folder, { recursive: true });
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    expect(existsSync(path.join(folder, 'README.md'))).toBe(true);
  });

  it('replaces a worktree that is reached through a symbolic link', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const elsewhere = path.join(path.dirname(temp.folder), 'big disk');
    writeFile(path.join(elsewhere, 'worktrees', '.gitignore'), '*\n');
    symlinkSync(elsewhere, path.join(temp.folder, '.mahabharatha'));
    const folder = workerFolder(temp, 0);
    for (let round = 0; round < 2; round++) {
      await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
      expect(await repository.listWorktrees()).toHaveLength(2);
    }
    await repository.removeWorktrees([folder]);
    expect(await repository.listWorktrees()).toHaveLength(1);
  });

  it("never runs one of the user's hooks, as no other command of ours does", async () => {
    const temp = tempRepository();
    const marker = path.join(path.dirname(temp.folder), 'a hook ran');
    for (const hook of HOOKS) {
      const file = path.join(temp.folder, '.git', 'hooks', hook);
      writeFile(file, `#!/bin/sh\necho ${hook} >> "${marker}"\n`);
      chmodSync(file, 0o755);
    }
    temp.git('config', 'core.fsmonitor', path.join(temp.folder, '.git', 'hooks', 'fsmonitor-watchman'));
    temp.git('commit', '--quiet', '--allow-empty', '--message', 'The hooks do work');
    expect(readFileSync(marker, 'utf8')).toContain('pre-commit');
    rmSync(marker);

    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    const base = await repository.resolve('HEAD');
    await repository.addWorktree({ folder, branch: branchOf(0), base });
    const workspace = await openWorkspace(folder, temp.env);
    await workspace.reset({ base, branch: branchOf(0), ignoredToo: true, keep: [] });
    writeFile(path.join(folder, 'a.txt'), 'a\n');
    const tree = await workspace.stage({
      base,
      branch: branchOf(0),
      left: { paths: [], files: new Set() },
      owned: () => [],
    });
    const commit = await workspace.commit({ base, tree, message: 'Work', branch: branchOf(0) });
    await repository.merge({ tip: base, commit, message: 'Merge' });
    await repository.changeRefs([{ ref: 'refs/heads/mahabharatha/x/integration', to: base, from: null }]);
    await repository.moveBranch({ branch: 'mahabharatha/x/integration', from: base, to: commit });
    await repository.uncommitted();
    await repository.removeWorktrees([folder]);
    expect(existsSync(marker)).toBe(false);
  });
});

describe('removing worktrees', () => {
  it('removes the folder and git’s record of it, and succeeds when neither is there', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    for (let round = 0; round < 3; round++) {
      await repository.removeWorktrees([folder]);
      expect(existsSync(folder)).toBe(false);
      expect(await repository.listWorktrees()).toHaveLength(1);
    }
    expect(await repository.readRef(branchOf(0))).toBe(temp.git('rev-parse', 'main'));
  });

  it.each([
    ['is missing', (file: string) => rmSync(file)],
    ['is empty', (file: string) => writeFile(file, '')],
    ['points to another repository', (file: string) => writeFile(file, 'gitdir: /somewhere/else/.git\n')],
    [
      'has become a directory',
      (file: string) => {
        rmSync(file);
        writeFile(path.join(file, 'config'), '[core]\n');
      },
    ],
  ])('copes with a worktree whose .git file %s', async (_, tamper) => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    tamper(path.join(folder, '.git'));
    await repository.removeWorktrees([folder]);
    expect(existsSync(folder)).toBe(false);
    expect(await repository.listWorktrees()).toHaveLength(1);
  });

  it('follows no symbolic link out of the folder', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const precious = path.join(path.dirname(temp.folder), 'precious');
    writeFile(path.join(precious, 'file.txt'), 'keep me\n');
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    symlinkSync(precious, path.join(folder, 'link'));
    await repository.removeWorktrees([folder]);
    symlinkSync(precious, folder);
    await repository.removeWorktrees([folder]);
    expect(existsSync(folder)).toBe(false);
    expect(readFileSync(path.join(precious, 'file.txt'), 'utf8')).toBe('keep me\n');
  });

  it('removes a worktree with a submodule in it', async () => {
    const temp = tempRepository();
    temp.git('submodule', '--quiet', 'add', tempRepository().folder, 'library');
    const base = temp.commit({});
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base });
    temp.gitIn(folder, 'submodule', '--quiet', 'update', '--init');
    expect(existsSync(path.join(folder, 'library', 'README.md'))).toBe(true);
    await repository.removeWorktrees([folder]);
    expect(await repository.listWorktrees()).toHaveLength(1);
  });

  it("never changes the user's other worktrees, also when their folder is missing", async () => {
    const temp = tempRepository();
    const [there, away] = ['there', 'on a disk that is not mounted'].map((name) =>
      path.join(path.dirname(temp.folder), name),
    ) as [string, string];
    temp.git('worktree', 'add', '--quiet', '-b', 'there', there);
    temp.git('worktree', 'add', '--quiet', '-b', 'away', away);
    rmSync(away, { recursive: true });
    const before = [fingerprint(there), fingerprint(path.join(temp.folder, '.git', 'worktrees'))];

    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    await repository.removeWorktrees([folder]);

    expect([fingerprint(there), fingerprint(path.join(temp.folder, '.git', 'worktrees'))]).toEqual(before);
    expect((await repository.listWorktrees()).map((tree) => tree.branch)).toEqual(['main', 'away', 'there']);
  });
});

describe('a lock on the branch of a worker that was killed', () => {
  it('stops neither a new worktree nor the removal of the branch', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const folder = workerFolder(temp, 0);
    const ref = `refs/heads/${branchOf(0)}`;
    const lock = path.join(temp.folder, '.git', `${ref}.lock`);
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    writeFile(lock, '');
    await repository.addWorktree({ folder, branch: branchOf(0), base: 'main' });
    await repository.removeWorktrees([folder]);
    writeFile(lock, '');
    await repository.changeRefs([{ ref, to: null }]);
    expect(await repository.readRef(ref)).toBeUndefined();
    expect(existsSync(lock)).toBe(false);
  });

  it("is removed from branches of workers only, never from the user's", async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    temp.git('branch', 'mine/worker-0');
    const ref = 'refs/heads/mine/worker-0';
    const lock = path.join(temp.folder, '.git', `${ref}.lock`);
    writeFile(lock, '');
    await expect(repository.changeRefs([{ ref, to: null }])).rejects.toThrow('worker-0.lock');
    expect(existsSync(lock)).toBe(true);
  });
});

it('lists worktrees also while another process is adding one', async () => {
  const temp = tempRepository();
  const repository = await openRepository(temp.folder, temp.env);
  const record = path.join(temp.folder, '.git', 'worktrees', 'half');
  writeFile(path.join(record, 'gitdir'), `${path.join(temp.folder, 'half', '.git')}\n`);
  writeFile(path.join(record, 'HEAD'), 'ref: refs/heads/half\n');
  writeFile(path.join(record, 'commondir'), '');
  expect(() => temp.git('worktree', 'list')).toThrow(/commondir/);
  setTimeout(() => writeFile(path.join(record, 'commondir'), '../..\n'), 120);

  const listed = await repository.listWorktrees();

  expect(listed.map(({ folder }) => folder)).toContain(temp.folder);
});
