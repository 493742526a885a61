import { chmodSync, chownSync, mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { gitEnvironment, repositoryAt, tempRepository, writeFile } from '../support/temp-repository.ts';

/** A PATH with one program on it, called git. */
function fakeGit(script: string): string {
  const folder = tempFolder();
  const file = path.join(folder, 'git');
  writeFile(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return folder;
}

it('opens a repository whose path has spaces and letters of other alphabets', async () => {
  const { folder, env, git } = tempRepository();
  const repository = await openRepository(folder, env);
  expect(repository.root).toBe(folder);
  expect(repository.commonDir).toBe(path.join(folder, '.git'));
  expect(await repository.resolve('main')).toBe(git('rev-parse', 'main'));
  expect(await repository.currentBranch()).toBe('main');
});

it('finds the top of the repository from a folder below it', async () => {
  const { folder, env } = tempRepository();
  const below = path.join(folder, 'a', 'b c');
  mkdirSync(below, { recursive: true });
  expect((await openRepository(below, env)).root).toBe(folder);
});

it('says that a folder is no repository', async () => {
  const folder = tempFolder();
  await expect(openRepository(folder, gitEnvironment(path.join(folder, 'home')))).rejects.toMatchObject({
    code: 'NOT_A_REPOSITORY',
    message: `${folder} is not inside a git repository with a working tree.`,
    exit: 2,
  });
});

it('refuses a bare repository, and the inside of a git directory', async () => {
  const bare = tempRepository({ bare: true });
  await expect(openRepository(bare.folder, bare.env)).rejects.toMatchObject({ code: 'NOT_A_REPOSITORY' });
  const { folder, env } = tempRepository();
  await expect(openRepository(path.join(folder, '.git'), env)).rejects.toMatchObject({ code: 'NOT_A_REPOSITORY' });
});

it('refuses a repository without a commit', async () => {
  const folder = tempFolder();
  const { git, env } = repositoryAt(folder, gitEnvironment(path.join(folder, 'home')));
  git('init', '--quiet');
  await expect(openRepository(folder, env)).rejects.toMatchObject({ code: 'NO_COMMIT_YET', exit: 2 });
});

it.runIf(process.getuid?.() === 0)(
  'says that a repository belongs to another user, and not that there is none',
  async () => {
    const { folder, env } = tempRepository();
    chownSync(folder, 12_345, 12_345);
    chownSync(path.join(folder, '.git'), 12_345, 12_345);
    await expect(openRepository(folder, env)).rejects.toMatchObject({
      code: 'GIT_FAILED',
      message: expect.stringContaining('safe.directory'),
    });
  },
);

it('does not say that git is missing when the folder is missing', async () => {
  const { folder, env } = tempRepository();
  await expect(openRepository(path.join(folder, 'not there'), env)).rejects.toMatchObject({
    code: 'GIT_FAILED',
    message: expect.stringContaining('there is no such folder'),
  });
});

it.each(['git version 2.37.4', 'git version 2.37.0 (Apple Git-136)', 'git version 1.99.0'])(
  'refuses %s',
  async (version) => {
    const { folder, env } = tempRepository();
    const PATH = fakeGit(`echo "${version}"`);
    await expect(openRepository(folder, { ...env, PATH })).rejects.toMatchObject({
      code: 'GIT_TOO_OLD',
      facts: { found: version.replace('git version ', ''), needed: '2.38' },
      exit: 4,
    });
  },
);

it('says that git is missing', async () => {
  const { folder, env } = tempRepository();
  await expect(openRepository(folder, { ...env, PATH: tempFolder() })).rejects.toMatchObject({
    code: 'GIT_MISSING',
    exit: 4,
  });
});

it('works with a detached HEAD', async () => {
  const { folder, env, git, commit } = tempRepository();
  const first = git('rev-parse', 'HEAD');
  commit({ 'a.txt': 'a\n' });
  git('checkout', '--quiet', '--detach', first);
  const repository = await openRepository(folder, env);
  expect(await repository.currentBranch()).toBeUndefined();
  expect(await repository.resolve('HEAD')).toBe(first);
});

it('works in a repository that is itself a worktree', async () => {
  const { folder, env, git } = tempRepository();
  const second = path.join(path.dirname(folder), 'second tree');
  git('worktree', 'add', '--quiet', '-b', 'other', second);
  const repository = await openRepository(second, env);
  expect(repository.root).toBe(second);
  expect(repository.commonDir).toBe(path.join(folder, '.git'));
  expect(await repository.currentBranch()).toBe('other');
  const worker = path.join(second, '.mahabharatha', 'worktrees', 'worker 0');
  await repository.addWorktree({ folder: worker, branch: 'mahabharatha/x/worker-0', base: 'main' });
  expect((await repository.listWorktrees()).map((tree) => tree.folder)).toEqual([folder, second, worker]);
});

it('opens a submodule as a repository of its own', async () => {
  const { folder, env, git } = tempRepository();
  const library = tempRepository();
  git('submodule', '--quiet', 'add', library.folder, 'libs/library');
  git('commit', '--quiet', '--message', 'Add a submodule');
  const inside = path.join(folder, 'libs/library');
  expect((await openRepository(folder, env)).root).toBe(folder);
  expect((await openRepository(inside, env)).root).toBe(inside);
  expect((await openRepository(inside, env)).commonDir).toBe(path.join(folder, '.git/modules/libs/library'));
});

it('ignores variables that redirect git', async () => {
  const { folder, env, git } = tempRepository();
  const other = tempRepository();
  other.commit({ 'b.txt': 'b\n' });
  const repository = await openRepository(folder, {
    ...env,
    GIT_DIR: path.join(other.folder, '.git'),
    GIT_WORK_TREE: other.folder,
    GIT_INDEX_FILE: path.join(other.folder, '.git/index'),
    GIT_OBJECT_DIRECTORY: path.join(other.folder, '.git/objects'),
    GIT_NAMESPACE: 'somewhere',
    GIT_CEILING_DIRECTORIES: folder,
    GIT_TRACE: '1',
  });
  expect(repository.root).toBe(folder);
  expect(await repository.resolve('HEAD')).toBe(git('rev-parse', 'HEAD'));
  expect(await repository.uncommitted()).toEqual([]);
});

it('finds the commit of a branch, a tag and a short id, and refuses other names', async () => {
  const { folder, env, git } = tempRepository();
  git('tag', '--annotate', '--message', 'one', 'v1');
  const head = git('rev-parse', 'HEAD');
  const repository = await openRepository(folder, env);
  for (const ref of ['main', 'v1', head.slice(0, 8), 'HEAD']) expect(await repository.resolve(ref)).toBe(head);
  for (const ref of ['nothing', '--all', '', 'HEAD~7', 'HEAD:README.md']) {
    await expect(repository.resolve(ref)).rejects.toMatchObject({ code: 'REF_UNKNOWN', facts: { ref } });
  }
});

it('opens a repository through a symbolic link', async () => {
  const { folder, env } = tempRepository();
  const link = path.join(path.dirname(folder), 'link');
  symlinkSync(folder, link);
  expect((await openRepository(link, env)).root).toBe(folder);
});
