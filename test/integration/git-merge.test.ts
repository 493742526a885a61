import { rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import { fingerprint, tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

/** Two branches that start from one commit. */
function fork(temp: TempRepository, ours: Record<string, string>, theirs: Record<string, string>): [string, string] {
  const base = temp.git('rev-parse', 'HEAD');
  const tips = [ours, theirs].map((files) => {
    temp.git('checkout', '--quiet', '--detach', base);
    return temp.commit(files);
  });
  temp.git('checkout', '--quiet', 'main');
  return tips as [string, string];
}

const isOurs = (file: string): boolean => file.startsWith('.git/objects') || file.includes('refs/heads/mahabharatha');

/** Everything that users can see of their own checkout; objects and refs of ours may be added. */
function checkoutOf(temp: TempRepository): unknown {
  return { files: fingerprint(temp.folder, isOurs), status: temp.git('status', '--porcelain=v2', '--branch') };
}

describe('merging', () => {
  it('joins the work of both sides in a commit of ours with both as parents', async () => {
    const temp = tempRepository();
    temp.commit({ 'shared.txt': '1\n2\n3\n4\n5\n6\n7\n' });
    const [tip, commit] = fork(
      temp,
      { 'shared.txt': 'one\n2\n3\n4\n5\n6\n7\n', 'a/ü.txt': 'a\n' },
      { 'shared.txt': '1\n2\n3\n4\n5\n6\nseven\n', 'b.txt': 'b\n' },
    );
    const repository = await openRepository(temp.folder, temp.env);
    const merged = await repository.merge({ tip, commit, message: 'Merge task B\n\nWith a body.' });
    if (merged.kind !== 'merged') throw new Error('a clean merge was called a conflict');
    expect(temp.git('show', `${merged.commit}:shared.txt`)).toBe('one\n2\n3\n4\n5\n6\nseven');
    expect(temp.git('show', `${merged.commit}:a/ü.txt`)).toBe('a');
    expect(temp.git('show', `${merged.commit}:b.txt`)).toBe('b');
    expect((await repository.commitFacts(merged.commit))?.parents).toEqual([tip, commit]);
    expect(temp.git('log', '-1', '--format=%an <%ae> %cn <%ce>%n%B', merged.commit)).toBe(
      'Mahabharatha <mahabharatha@localhost> Mahabharatha <mahabharatha@localhost>\nMerge task B\n\nWith a body.',
    );
  });

  it("can be in the user's name", async () => {
    const temp = tempRepository();
    const [tip, commit] = fork(temp, { 'a.txt': 'a\n' }, { 'b.txt': 'b\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const merged = await repository.merge({ tip, commit, message: 'Merge', author: 'user' });
    if (merged.kind !== 'merged') throw new Error('a clean merge was called a conflict');
    expect(temp.git('log', '-1', '--format=%an %cn', merged.commit)).toBe('A User A User');
  });

  it('follows a file that one side has renamed, unless the commit may only change its own paths', async () => {
    const temp = tempRepository();
    temp.commit({ 'old.txt': '1\n2\n3\n4\n5\n6\n7\n8\n' });
    const base = temp.git('rev-parse', 'HEAD');
    temp.git('mv', 'old.txt', 'new.txt');
    const tip = temp.commit({});
    temp.git('checkout', '--quiet', '--detach', base);
    const commit = temp.commit({ 'old.txt': '1\n2\n3\n4\n5\n6\n7\nlast\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const bound = await repository.merge({ tip, commit, base, message: 'Merge' });
    expect(bound).toEqual({ kind: 'conflict', files: ['new.txt'] });
    const merged = await repository.merge({ tip, commit, message: 'Merge' });
    if (merged.kind !== 'merged') throw new Error('a clean merge was called a conflict');
    expect(temp.git('ls-tree', '--name-only', merged.commit).split('\n')).toEqual(['README.md', 'new.txt']);
    expect(temp.git('show', `${merged.commit}:new.txt`)).toContain('last');
  });

  it('with a given base reads nothing of earlier merges: it costs the same after thousands of them', async () => {
    const temp = tempRepository();
    const base = temp.git('rev-parse', 'HEAD');
    const [, commit] = fork(temp, {}, { 'last.txt': 'x\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const tips = [base];
    for (const file of ['a', 'b', 'c', 'd']) {
      const tip = tips.at(-1) ?? base;
      const [, work] = fork(temp, {}, { [file]: file });
      const merged = await repository.merge({ tip, commit: work, base, message: `Merge ${file}` });
      tips.push(merged.kind === 'merged' ? merged.commit : '');
    }
    const [tip = '', before = ''] = [tips.at(-1), tips.at(-3)];
    rmSync(path.join(temp.folder, '.git/objects', before.slice(0, 2), before.slice(2)));
    await expect(repository.merge({ tip, commit, message: 'Merge' })).rejects.toMatchObject({ code: 'GIT_FAILED' });
    const merged = await repository.merge({ tip, commit, base, message: 'Merge' });
    if (merged.kind !== 'merged') throw new Error('a clean merge was called a conflict');
    expect(temp.git('ls-tree', '--name-only', merged.commit).split('\n')).toEqual([
      'README.md',
      'a',
      'b',
      'c',
      'd',
      'last.txt',
    ]);
  });

  it.each<[string, Record<string, string>, Record<string, string>, string[]]>([
    ['the same line', { 'ü b.txt': 'ours\n' }, { 'ü b.txt': 'theirs\n' }, ['ü b.txt']],
    ['several files', { a: '1', b: '1', c: '1' }, { a: '2', b: '2', d: '2' }, ['a', 'b']],
    ['a name with a line end', { 'a\nb': '1' }, { 'a\nb': '2' }, ['a\nb']],
  ])('names the files of a conflict: %s', async (_, ours, theirs, files) => {
    const temp = tempRepository();
    const [tip, commit] = fork(temp, ours, theirs);
    const repository = await openRepository(temp.folder, temp.env);
    expect(await repository.merge({ tip, commit, message: 'Merge' })).toEqual({ kind: 'conflict', files });
  });

  it('names a file that one side has deleted and the other changed', async () => {
    const temp = tempRepository();
    const base = temp.commit({ 'gone.txt': 'x\n' });
    temp.git('rm', '--quiet', 'gone.txt');
    const tip = temp.commit({});
    temp.git('checkout', '--quiet', '--detach', base);
    const commit = temp.commit({ 'gone.txt': 'y\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const result = await repository.merge({ tip, commit, message: 'Merge' });
    expect(result).toEqual({ kind: 'conflict', files: ['gone.txt'] });
  });

  it("changes nothing in the user's checkout, index and HEAD, which have local changes", async () => {
    const temp = tempRepository();
    const [tip, commit] = fork(temp, { 'a.txt': 'a\n' }, { 'b.txt': 'b\n' });
    const [, other] = fork(temp, { 'a.txt': 'a\n' }, { 'a.txt': 'other\n' });
    temp.write('README.md', 'half a thought\n');
    temp.write('staged.txt', 'staged\n');
    temp.git('add', 'staged.txt');
    temp.write('b.txt', 'untracked, and in the way of a checkout\n');
    const before = checkoutOf(temp);
    const repository = await openRepository(temp.folder, temp.env);
    const branch = 'mahabharatha/x/integration';
    await repository.changeRefs([{ ref: `refs/heads/${branch}`, to: tip, from: null }]);
    const merged = await repository.merge({ tip, commit, message: 'Merge' });
    if (merged.kind !== 'merged') throw new Error('a clean merge was called a conflict');
    await repository.moveBranch({ branch, from: tip, to: merged.commit });
    expect(await repository.merge({ tip, commit: other, message: 'Merge' })).toMatchObject({ kind: 'conflict' });
    expect(await repository.uncommitted()).toEqual(['README.md', 'staged.txt', 'b.txt']);
    expect(await repository.readRef(branch)).toBe(merged.commit);
    expect(checkoutOf(temp)).toEqual(before);
  });

  it('does not take a missing commit for a conflict', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const tip = await repository.resolve('HEAD');
    await expect(repository.merge({ tip, commit: 'f'.repeat(40), message: 'Merge' })).rejects.toMatchObject({
      code: 'GIT_FAILED',
      exit: 4,
    });
  });
});

describe('changing refs', () => {
  it('creates, moves and deletes in one go', async () => {
    const temp = tempRepository();
    const first = temp.git('rev-parse', 'HEAD');
    const second = temp.commit({ 'a.txt': 'a\n' });
    const repository = await openRepository(temp.folder, temp.env);
    await repository.changeRefs([]);
    await repository.changeRefs([
      { ref: 'refs/mahabharatha/x/T-1/1', to: first, from: null },
      { ref: 'refs/mahabharatha/x/T-1/2', to: second },
    ]);
    await repository.changeRefs([
      { ref: 'refs/mahabharatha/x/T-1/1', to: second, from: first },
      { ref: 'refs/mahabharatha/x/T-1/2', to: null, from: second },
      { ref: 'refs/mahabharatha/x/T-2/1', to: first },
    ]);
    expect(await repository.listRefs('refs/mahabharatha/x/')).toEqual([
      { ref: 'refs/mahabharatha/x/T-1/1', commit: second },
      { ref: 'refs/mahabharatha/x/T-2/1', commit: first },
    ]);
    await repository.changeRefs([{ ref: 'refs/mahabharatha/x/T-1/1', to: null }]);
    expect(await repository.readRef('refs/mahabharatha/x/T-1/1')).toBeUndefined();
  });

  it.each([
    ['must not exist and does', { ref: 'refs/heads/taken', to: 'HEAD', from: null }],
    ['is not where it should be', { ref: 'refs/heads/taken', to: 'OTHER', from: 'OTHER' }],
    ['is to be deleted and is elsewhere', { ref: 'refs/heads/taken', to: null, from: 'OTHER' }],
    ['cannot exist beside another', { ref: 'refs/heads/taken/below', to: 'HEAD', from: null }],
  ])('changes nothing at all when one ref %s', async (_, change) => {
    const temp = tempRepository();
    const other = temp.commit({ 'a.txt': 'a\n' });
    const head = temp.commit({ 'b.txt': 'b\n' });
    temp.git('branch', 'taken');
    const repository = await openRepository(temp.folder, temp.env);
    const before = await repository.listRefs('refs/');
    const named = (name: string | null): string | null => (name === 'OTHER' ? other : name === 'HEAD' ? head : name);
    const bad = { ref: change.ref, to: named(change.to), from: named(change.from) };
    const good = { ref: 'refs/heads/new', to: head, from: null };
    for (const changes of [
      [good, bad],
      [bad, good],
    ]) {
      await expect(repository.changeRefs(changes)).rejects.toMatchObject({ code: 'GIT_FAILED' });
      expect(await repository.listRefs('refs/')).toEqual(before);
    }
  });

  it('does not move a branch that was moved, deleted or never made', async () => {
    const temp = tempRepository();
    const from = temp.git('rev-parse', 'HEAD');
    const to = temp.commit({ 'a.txt': 'a\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const branch = 'mahabharatha/x/integration';
    const moved = { code: 'INTEGRATION_MOVED', facts: { branch, expected: from }, exit: 1 };
    await expect(repository.moveBranch({ branch, from, to })).rejects.toMatchObject(moved);
    temp.git('branch', branch, to);
    await expect(repository.moveBranch({ branch, from, to })).rejects.toMatchObject(moved);
    temp.git('branch', '--force', branch, from);
    await repository.moveBranch({ branch, from, to });
    expect(await repository.resolve(branch)).toBe(to);
  });

  it('does not move a branch that is checked out, and names the working tree', async () => {
    const temp = tempRepository();
    const from = temp.git('rev-parse', 'HEAD');
    const to = fork(temp, { a: '1' }, { b: '1' })[0];
    const there = `${temp.folder} of a friend`;
    temp.git('worktree', 'add', '--quiet', '-b', 'ours', there, from);
    const repository = await openRepository(temp.folder, temp.env);
    const moving = repository.moveBranch({ branch: 'ours', from, to });
    await expect(moving).rejects.toMatchObject({ code: 'INTEGRATION_CHECKED_OUT', facts: { worktree: there } });
    expect(await repository.readRef('ours')).toBe(from);
    temp.gitIn(there, 'switch', '--quiet', '--detach');
    await repository.moveBranch({ branch: 'ours', from, to });
    expect(await repository.readRef('ours')).toBe(to);
  });

  it('keeps the branch where it is when the new commit does not exist', async () => {
    const temp = tempRepository();
    const from = temp.git('rev-parse', 'HEAD');
    temp.git('branch', 'ours');
    const repository = await openRepository(temp.folder, temp.env);
    await expect(repository.moveBranch({ branch: 'ours', from, to: 'f'.repeat(40) })).rejects.toMatchObject({
      code: 'GIT_FAILED',
    });
    expect(await repository.resolve('main')).toBe(from);
  });

  it('moves a branch only once when many try at the same time', async () => {
    const temp = tempRepository();
    const from = temp.git('rev-parse', 'HEAD');
    const commits = Array.from({ length: 8 }, (_, n) => temp.commit({ [`${n}.txt`]: `${n}\n` }));
    temp.git('branch', 'mahabharatha/x/integration', from);
    const repository = await openRepository(temp.folder, temp.env);
    const moves = await Promise.allSettled(
      commits.map((to) => repository.moveBranch({ branch: 'mahabharatha/x/integration', from, to })),
    );
    expect(moves.filter((move) => move.status === 'fulfilled')).toHaveLength(1);
    expect(commits).toContain(await repository.resolve('mahabharatha/x/integration'));
  });
});
