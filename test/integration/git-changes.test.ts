import { chmodSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository, openWorkspace } from '../../src/git/index.ts';
import type { Repository } from '../../src/git/index.ts';
import { tempRepository, writeFile } from '../support/temp-repository.ts';

async function changedPaths(repository: Repository, from: string, to: string): Promise<string[]> {
  const [changes] = await repository.changedFiles([{ from, to }]);
  return [...(changes?.keys() ?? [])];
}

describe('the paths that a commit changes', () => {
  it('are what it adds, changes and deletes, with both sides of a rename', async () => {
    const temp = tempRepository();
    const long = Array.from({ length: 30 }, (_, line) => `${line}\n`).join('');
    const from = temp.commit({ 'gone.txt': 'x\n', 'old name.txt': long, 'run.sh': 'true\n', 'same.txt': 'same\n' });
    rmSync(path.join(temp.folder, 'gone.txt'));
    temp.git('mv', 'old name.txt', 'new name.txt');
    chmodSync(path.join(temp.folder, 'run.sh'), 0o755);
    symlinkSync('README.md', path.join(temp.folder, 'link'));
    const to = temp.commit({
      'src/ünï/日本.txt': 'new\n',
      'line\nend': 'x',
      '\n0': 'x',
      '"quoted"': 'x',
      'tab\t': 'x',
    });
    const repository = await openRepository(temp.folder, temp.env);
    expect((await changedPaths(repository, from, to)).toSorted()).toEqual(
      [
        'gone.txt',
        'old name.txt',
        'new name.txt',
        'run.sh',
        'link',
        'src/ünï/日本.txt',
        'line\nend',
        '\n0',
        '"quoted"',
        'tab\t',
      ].toSorted(),
    );
    expect((await repository.commitFacts(to))?.changed).toEqual(await changedPaths(repository, from, to));
    expect(await changedPaths(repository, to, to)).toEqual([]);
  });

  it('include a moved submodule, also one that .gitmodules asks to ignore', async () => {
    const temp = tempRepository();
    const library = tempRepository();
    temp.git('submodule', '--quiet', 'add', library.folder, 'library');
    temp.git('config', '--file', '.gitmodules', 'submodule.library.ignore', 'all');
    const from = temp.commit({});
    library.commit({ 'new.txt': 'new\n' });
    temp.gitIn(path.join(temp.folder, 'library'), 'pull', '--quiet');
    temp.git('add', '--force', 'library');
    temp.git('update-index', '--cacheinfo', `160000,${library.git('rev-parse', 'HEAD')},library`);
    temp.git('commit', '--quiet', '--message', 'Move the submodule');
    const repository = await openRepository(temp.folder, temp.env);
    expect(await changedPaths(repository, from, await repository.resolve('HEAD'))).toEqual(['library']);
    expect(await repository.commitFacts('HEAD')).toMatchObject({ changed: ['library'], embedded: [] });
  });

  it('include folders that have become repositories, of which the commit has no file', async () => {
    const temp = tempRepository();
    temp.commit({ 'file.txt': 'a file\n' });
    for (const name of ['file.txt', 'new folder']) {
      rmSync(path.join(temp.folder, name), { recursive: true, force: true });
      temp.git('init', '--quiet', name);
      temp.gitIn(path.join(temp.folder, name), 'commit', '--quiet', '--allow-empty', '--message', 'inside');
    }
    temp.git('-c', 'advice.addEmbeddedRepo=false', 'add', '--all');
    temp.git('commit', '--quiet', '--message', 'with repositories');
    const repository = await openRepository(temp.folder, temp.env);
    const { changed, embedded } = (await repository.commitFacts('HEAD')) ?? {};
    expect(embedded).toEqual(['file.txt', 'new folder']);
    expect(changed).toEqual(['file.txt', 'new folder']);
  });

  it('say which names no worktree can have', async () => {
    const temp = tempRepository();
    temp.commit({});
    const target = path.join(temp.folder, 'target');
    writeFileSync(target, 'x'.repeat(5000));
    const id = temp.git('hash-object', '-w', target).trim();
    rmSync(target);
    const add = (mode: string, name: string) =>
      temp.git('update-index', '--add', '--cacheinfo', `${mode},${id},${name}`);
    const [name, deep] = ['n'.repeat(256), 'd/'.repeat(2047)];
    for (const one of [name, `in/${name}`, 'n'.repeat(255), 'ü'.repeat(128), `${deep}ab`, `${deep}a`])
      add('100644', one);
    add('120000', 'link');
    temp.git('commit', '--quiet', '--message', 'long names');
    const facts = await (await openRepository(temp.folder, temp.env)).commitFacts('HEAD');
    expect(new Set(facts?.tooLong)).toEqual(new Set([name, `in/${name}`, 'ü'.repeat(128), `${deep}ab`, 'link']));
  });

  it("do not depend on the user's settings", async () => {
    const temp = tempRepository();
    const settings = {
      'diff.renames': 'copies',
      'diff.ignoreSubmodules': 'all',
      'diff.relative': 'true',
      'core.quotePath': 'true',
      'status.showUntrackedFiles': 'no',
      'status.relativePaths': 'true',
      'status.short': 'true',
      'status.branch': 'true',
      'color.ui': 'always',
    };
    for (const [key, value] of Object.entries(settings)) temp.git('config', key, value);
    const from = temp.git('rev-parse', 'HEAD');
    const to = temp.commit({ 'ü.txt': 'first\n' });
    temp.write('new.txt', 'new\n');
    const repository = await openRepository(temp.folder, temp.env);
    expect(await changedPaths(repository, from, to)).toEqual(['ü.txt']);
    expect((await repository.commitFacts(to))?.changed).toEqual(['ü.txt']);
    expect(await repository.uncommitted()).toEqual(['new.txt']);
  });
});

describe('the parents of a commit', () => {
  it('are none for the first, one for the next', async () => {
    const temp = tempRepository();
    const first = temp.git('rev-parse', 'HEAD');
    const second = temp.commit({ 'a.txt': 'a\n' });
    const repository = await openRepository(temp.folder, temp.env);
    expect((await repository.commitFacts(first))?.parents).toEqual([]);
    expect((await repository.commitFacts(second))?.parents).toEqual([first]);
  });

  it('are unknown for an id that is not of a commit', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    expect(await repository.commitFacts('f'.repeat(40))).toBeUndefined();
    expect(await repository.commitFacts(temp.git('rev-parse', 'HEAD:README.md'))).toBeUndefined();
    expect(await repository.commitFacts(temp.git('rev-parse', 'HEAD^{tree}'))).toBeUndefined();
  });
});

describe('untracked files', () => {
  it('are found by globs from the top, ignored or not, except our own', async () => {
    const temp = tempRepository();
    temp.commit({ '.gitignore': '.env*\nsecrets/\n', '.env.example': 'tracked? no, ignored' });
    temp.git('add', '--force', '.env.example');
    temp.git('commit', '--quiet', '--message', 'Track the example');
    for (const file of [
      '.env',
      '.env.local',
      'packages/a/.env',
      'secrets/key ü.pem',
      'secrets/deep/er.pem',
      'notes.txt',
      '.mahabharatha/state/x/.env',
      '.mahabharatha/worktrees/x/.env',
      '.mahabharatha/logs/.env',
    ]) {
      temp.write(file, 'x');
    }
    const repository = await openRepository(temp.folder, temp.env);
    const found = async (...globs: string[]): Promise<string[]> => (await repository.untrackedFiles(globs)).toSorted();
    expect(await found()).toEqual([]);
    expect(await found('.env*')).toEqual(['.env', '.env.local']);
    expect(await found('**/.env')).toEqual(['.env', 'packages/a/.env']);
    expect(await found('secrets/')).toEqual(['secrets/deep/er.pem', 'secrets/key ü.pem']);
    expect(await found('secrets/*')).toEqual(['secrets/key ü.pem']);
    expect(await found('notes.txt', '.env')).toEqual(['.env', 'notes.txt']);
    expect(await found('nothing/**')).toEqual([]);
  });
});

it('all of this works in a repository with sha256 objects', async () => {
  const temp = tempRepository({ format: 'sha256' });
  const repository = await openRepository(temp.folder, temp.env);
  const base = await repository.resolve('HEAD');
  expect(base).toMatch(/^[0-9a-f]{64}$/);
  const [folder, branch] = [path.join(temp.folder, '.mahabharatha', 'worker 0'), 'mahabharatha/x/worker-0'];
  await repository.addWorktree({ folder, branch, base });
  const workspace = await openWorkspace(folder, temp.env);
  await workspace.reset({ base, branch, ignoredToo: false, keep: [] });
  writeFile(path.join(folder, 'a.txt'), 'a\n');
  const commit = await workspace.commit({
    base,
    tree: await workspace.stage({ base, branch, left: { paths: [], files: new Set() }, owned: () => [] }),
    message: 'Work',
    branch,
  });
  expect((await repository.commitFacts(commit))?.parents).toEqual([base]);
  expect(await changedPaths(repository, base, commit)).toEqual(['a.txt']);
  const tip = temp.commit({ 'b.txt': 'b\n' });
  const merged = await repository.merge({ tip, commit, message: 'Merge' });
  if (merged.kind !== 'merged') throw new Error('a clean merge was called a conflict');
  const ref = 'refs/heads/mahabharatha/x/integration';
  await repository.changeRefs([{ ref, to: tip, from: null }]);
  await repository.moveBranch({ branch: 'mahabharatha/x/integration', from: tip, to: merged.commit });
  expect(temp.git('ls-tree', '--name-only', ref).split('\n')).toEqual(['README.md', 'a.txt', 'b.txt']);
  await repository.removeWorktrees([folder]);
  expect(readFileSync(path.join(temp.folder, 'b.txt'), 'utf8')).toBe('b\n');
});
