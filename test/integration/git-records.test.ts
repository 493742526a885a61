import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRepository } from '../../src/git/index.ts';
import { fingerprint, tempRepository, writeFile } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

const BRANCH = 'mahabharatha/x/worker-0';
const folderOf = (temp: TempRepository): string => path.join(`${temp.folder}-workers`, '0', 'mahabharatha-worker-0');
const recordsOf = (temp: TempRepository): string => path.join(temp.folder, '.git', 'worktrees');

/** What a killed git may have left in a record: the file that it had just opened is empty, later ones are missing. */
const HALF: readonly (readonly [string, (record: string) => void])[] = [
  ['nothing', (record) => clear(record, ['locked', 'gitdir', 'commondir', 'HEAD'])],
  ['an empty lock', (record) => half(record, 'locked', ['gitdir', 'commondir', 'HEAD'])],
  ['a lock alone', (record) => clear(record, ['gitdir', 'commondir', 'HEAD'])],
  ['no place', (record) => half(record, 'gitdir', ['commondir', 'HEAD'])],
  ['no HEAD', (record) => half(record, 'HEAD', ['commondir'])],
  ['no path to the repository', (record) => half(record, 'commondir', [])],
  ['a HEAD that is torn', (record) => writeFile(path.join(record, 'HEAD'), 'ref: refs/he')],
];

function clear(record: string, names: readonly string[]): void {
  for (const name of names) rmSync(path.join(record, name));
}

function half(record: string, name: string, missing: readonly string[]): void {
  writeFile(path.join(record, name), '');
  clear(record, missing);
}

function expectUsable(temp: TempRepository): void {
  for (const args of [
    ['worktree', 'list'],
    ['gc', '--quiet'],
    ['fsck', '--no-dangling'],
  ])
    temp.git(...args);
}

describe('the record of a worktree of ours', () => {
  it.each(HALF)('that a killed git has left with %s is removed, and the worktree is made anew', async (_, breakIt) => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    const worktree = { folder: folderOf(temp), branch: BRANCH, base: 'main' };
    await repository.addWorktree(worktree);
    breakIt(path.join(recordsOf(temp), 'mahabharatha-worker-0'));

    expect(await repository.repairRecords()).toEqual(['mahabharatha-worker-0']);
    expectUsable(temp);
    breakIt(await again(temp, repository));
    await repository.addWorktree(worktree);
    expectUsable(temp);
    expect((await repository.listWorktrees()).map(({ folder }) => folder)).toContain(worktree.folder);
    await repository.removeWorktrees([worktree.folder]);
    expect(existsSync(recordsOf(temp)) ? readdirSync(recordsOf(temp)) : []).toEqual([]);
  });

  it('is removed when its folder is gone, although it is locked; one that is in use stays', async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    await repository.addWorktree({ folder: folderOf(temp), branch: BRANCH, base: 'main' });
    expect(await repository.repairRecords()).toEqual([]);
    rmSync(folderOf(temp), { recursive: true });
    expect(await repository.repairRecords()).toEqual(['mahabharatha-worker-0']);
  });

  it("is not mistaken for one of the user's: those stay as they are, broken or not", async () => {
    const temp = tempRepository();
    const repository = await openRepository(temp.folder, temp.env);
    for (const name of ['worker-0', 'mahabharatha', 'mahabharatha-worker-x']) {
      temp.git('worktree', 'add', '--quiet', '--lock', '--detach', path.join(`${temp.folder}-workers`, 'mine', name));
      clear(path.join(recordsOf(temp), name), ['gitdir']);
    }
    const before = fingerprint(recordsOf(temp));
    expect(await repository.repairRecords()).toEqual([]);
    expect(fingerprint(recordsOf(temp))).toEqual(before);
  });
});

async function again(temp: TempRepository, repository: Awaited<ReturnType<typeof openRepository>>): Promise<string> {
  await repository.addWorktree({ folder: folderOf(temp), branch: BRANCH, base: 'main' });
  return path.join(recordsOf(temp), 'mahabharatha-worker-0');
}

const traced = spawnSync('strace', ['-e', 'inject=write:signal=KILL:when=1', 'true']).error === undefined;

describe.skipIf(!traced)('git that is killed while it adds a worktree', () => {
  it('leaves nothing that stops the next git, or the user', async () => {
    let killed = 0;
    for (const [call, last] of [
      ['openat', 60],
      ['write', 8],
      ['mkdir', 6],
    ] as const) {
      for (let when = 1; when <= last; when += call === 'openat' ? 6 : 1) {
        const temp = tempRepository();
        const repository = await openRepository(temp.folder, temp.env);
        const worktree = { folder: folderOf(temp), branch: BRANCH, base: 'main' };
        const name = ['--quiet', '--lock', '--reason', 'a Mahabharatha worker uses it', '--no-track', '-B', BRANCH];
        const inject = [
          '-f',
          '-qq',
          '-o',
          '/dev/null',
          '-e',
          `trace=${call}`,
          '-e',
          `inject=${call}:signal=KILL:when=${when}`,
        ];
        execFileSync('mkdir', ['-p', path.dirname(worktree.folder)]);
        const args = [...inject, 'git', 'worktree', 'add', ...name, '--', worktree.folder, 'main'];
        const { signal, status } = spawnSync('strace', args, {
          cwd: temp.folder,
          env: { ...process.env, ...temp.env },
        });
        if (signal !== null || status !== 0) killed += 1;

        await repository.repairRecords();
        await repository.repairRefs('x', new Map());
        await repository.addWorktree(worktree);
        expectUsable(temp);
      }
    }
    expect(killed).toBeGreaterThan(3);
  });
});
