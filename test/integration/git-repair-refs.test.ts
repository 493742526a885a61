import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import { tempRepository, writeFile } from '../support/temp-repository.ts';

const INTEGRATION = 'refs/heads/mahabharatha/login/integration';
const ATTEMPT = 'refs/mahabharatha/login/A/1';
const GONE = '1234567890123456789012345678901234567890';

it('objects that a killed orchestrator was examining are removed, and those of another feature stay', async () => {
  const temp = tempRepository();
  const folderOf = (feature: string): string =>
    path.join(temp.folder, '.git', 'objects', `tmp_objdir-mahabharatha~${feature}~0123456789abcdef`);
  for (const feature of ['login', 'log', 'login-2']) writeFile(path.join(folderOf(feature), 'pack', 'tmp_pack_1'), 'x');
  const repository = await openRepository(temp.folder, temp.env);
  await repository.repairRefs('login', new Map());
  expect(['login', 'log', 'login-2'].map((feature) => existsSync(folderOf(feature)))).toEqual([false, true, true]);
});

describe('refs of a feature after a loss of power', () => {
  it.each([
    ['are empty', ''],
    ['are full of zeros', '\0'.repeat(41)],
    ['are cut off', 'abc'],
    ['have the id of a missing commit', `${GONE}\n`],
  ])('that %s are made again, or removed when their commit is unknown', async (_, text) => {
    const temp = tempRepository();
    const first = temp.git('rev-parse', 'HEAD');
    const repository = await openRepository(temp.folder, temp.env);
    const sound = 'refs/mahabharatha/login/B/1';
    temp.git('update-ref', sound, first);
    const unknown = 'refs/heads/mahabharatha/login/worker-0';
    const foreign = 'refs/heads/mahabharatha/other/integration';
    for (const ref of [INTEGRATION, ATTEMPT, unknown, foreign]) writeFile(path.join(temp.folder, '.git', ref), text);

    const known = new Map([
      [INTEGRATION, first],
      [ATTEMPT, GONE],
      [sound, first],
    ]);
    const broken = await repository.repairRefs('login', known);

    expect(broken.toSorted()).toEqual([INTEGRATION, unknown, ATTEMPT]);
    const refs = await Promise.all([INTEGRATION, ATTEMPT, unknown, sound].map(repository.readRef));
    expect(refs).toEqual([first, undefined, undefined, first]);
    expect(existsSync(path.join(temp.folder, '.git', foreign)), "another feature's ref").toBe(true);
    expect(await repository.repairRefs('login', known)).toEqual([]);
  });

  it('lose the locks that a killed git has left, except those of workers with a worktree, which may be at work', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const [mine, other] = ['mahabharatha/login/worker-0', 'mahabharatha/login/worker-1'];
    temp.git('worktree', 'add', '--quiet', '-b', mine, '../mahabharatha-worker-0');
    const refs = [INTEGRATION, `refs/heads/${mine}`, `refs/heads/${other}`];
    const locks = refs.map((ref) => path.join(temp.folder, '.git', `${ref}.lock`));
    for (const file of locks) writeFile(file, '');
    await repository.repairRefs('login', new Map());
    expect(locks.map((file) => existsSync(file))).toEqual([false, true, false]);
    const commit = temp.git('rev-parse', 'HEAD');
    await repository.changeRefs([{ ref: INTEGRATION, to: commit, from: null }]);
    const wish = { commit, base: commit, message: 'work', at: 1_800_000_000_000, ref: ATTEMPT, branch: other };
    expect(await repository.remake(wish)).toBe(await repository.readRef(`refs/heads/${other}`));
  });
});

describe('a commit', () => {
  it.each(['commit', 'tree', 'file'])('is not whole when its %s is gone or empty', async (what) => {
    for (const damage of ['gone', 'empty']) {
      const temp = tempRepository();
      const base = temp.git('rev-parse', 'HEAD');
      const commit = temp.commit({ 'src/a.txt': 'a\n' });
      const object = { commit, tree: `${commit}:src`, file: `${commit}:src/a.txt` }[what] ?? '';
      const id = temp.git('rev-parse', object);
      temp.git('reset', '--quiet', '--hard', base);
      const repository = await openRepository(temp.folder, temp.env);
      expect(await repository.isWhole(commit, base)).toBe(true);
      const file = path.join(temp.folder, '.git/objects', id.slice(0, 2), id.slice(2));
      rmSync(file);
      if (damage === 'empty') writeFileSync(file, '');
      expect(await repository.isWhole(commit, base), damage).toBe(false);
    }
  });
});

describe('an object that a loss of power has left as an empty file', () => {
  it('is removed, so that git writes it again; all others stay', async () => {
    const temp = tempRepository();
    const base = temp.git('rev-parse', 'HEAD');
    const commit = temp.commit({ 'src/a.txt': 'a\n', 'src/b.txt': 'b\n' });
    const repository = await openRepository(temp.folder, temp.env);
    const id = temp.git('rev-parse', `${commit}:src/a.txt`);
    const file = path.join(temp.folder, '.git/objects', id.slice(0, 2), id.slice(2));
    rmSync(file);
    writeFileSync(file, '');
    const note = path.join(path.dirname(file), 'tmp_obj_1');
    writeFileSync(note, '');
    temp.git('hash-object', '-w', 'src/a.txt');
    expect(await repository.isWhole(commit, base), 'git does not write it again').toBe(false);

    expect(await repository.removeEmptyObjects()).toEqual([id]);
    expect(existsSync(note), 'git may be about to write it').toBe(true);
    temp.git('hash-object', '-w', 'src/a.txt');
    expect(await repository.isWhole(commit, base)).toBe(true);
    expect(await repository.removeEmptyObjects()).toEqual([]);
  });
});

describe('new objects that a killed git has left outside their folder', () => {
  const DRAFTS = 'objects/tmp_objdir-bulk-fsync-E1D8tu';

  it('are removed when a run begins, and when it ends', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    writeFile(path.join(temp.folder, '.git', DRAFTS, '6f/tmp_obj_D58YVE'), 'half');
    expect(await repository.repairRecords()).toEqual([DRAFTS]);
    expect(existsSync(path.join(temp.folder, '.git', DRAFTS))).toBe(false);
  });

  it('stay while more are written', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const add = (): void => writeFile(path.join(temp.folder, '.git', DRAFTS, `tmp_obj_${performance.now()}`), 'half');
    add();
    const adding = setInterval(add, 20);
    expect(await repository.repairRecords()).toEqual([]);
    clearInterval(adding);
    expect(existsSync(path.join(temp.folder, '.git', DRAFTS))).toBe(true);
  });
});

describe('what a killed git has left half written of packed-refs', () => {
  const LEFT = ['packed-refs.lock', 'packed-refs.new'];

  it.each([[LEFT], [LEFT.slice(0, 1)], [LEFT.slice(1)]])(
    'is removed, and refs can be removed again: %j',
    async (left) => {
      const temp = tempRepository();
      const repository = await openRepository(temp.folder, temp.env);
      temp.git('update-ref', ATTEMPT, 'HEAD');
      temp.git('pack-refs', '--all');
      for (const name of left) writeFile(path.join(temp.folder, '.git', name), '');
      await expect(repository.changeRefs([{ ref: ATTEMPT, to: null }])).rejects.toThrow('packed-refs');
      expect(await repository.repairRecords()).toEqual(left);
      await repository.changeRefs([{ ref: ATTEMPT, to: null }]);
      expect(await repository.readRef(ATTEMPT)).toBe(undefined);
    },
  );

  it('stays while a git runs that may be writing it', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const lock = path.join(temp.folder, '.git/packed-refs.lock');
    writeFile(lock, '');
    const git = spawn('git', ['cat-file', '--batch'], {
      cwd: temp.folder,
      env: temp.env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    git.stdin.write('HEAD\n');
    await once(git.stdout, 'data');
    expect(await repository.repairRecords()).toEqual([]);
    expect(existsSync(lock)).toBe(true);
    git.stdin.end();
    await once(git, 'exit');
    expect(await repository.repairRecords()).toEqual(['packed-refs.lock']);
  });
});
