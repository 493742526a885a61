import { rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findTraces, mergedFeatures, mergedTasks, openRepository } from '../../src/git/index.ts';
import { tempRepository } from '../support/temp-repository.ts';
import type { TempRepository } from '../support/temp-repository.ts';

let temp: TempRepository;
let tip: string;

beforeEach(() => {
  temp = tempRepository();
  temp.git('checkout', '--quiet', '-b', 'mahabharatha/login/integration');
  temp.commit({ 'a.txt': 'a\n' });
  tip = temp.commit({ 'b.txt': 'b\n' });
  temp.git('checkout', '--quiet', 'main');
});

/** Of a run whose state says where its branch is; null when the state is gone. */
async function unmerged(recorded: string | null = tip): Promise<number> {
  const repository = await openRepository(temp.folder, temp.env);
  return (await findTraces(repository, 'login', [], recorded ?? undefined)).unmerged;
}

const commitHere = (message: string): unknown => temp.git('commit', '--quiet', '--allow-empty', '--message', message);

describe('the work of a feature that no other branch has', () => {
  it('counts by commits, and is none after a merge', async () => {
    expect(await unmerged()).toBe(2);
    temp.git('merge', '--quiet', '--no-ff', '--message', 'Merge', tip);
    expect(await unmerged()).toBe(0);
  });

  it('is none when a commit elsewhere says that it has all of it, squashed', async () => {
    commitHere(`Add feature login\n\nMahabharatha-Commit: ${temp.git('rev-parse', `${tip}~1`)}`);
    expect(await unmerged()).toBe(2);
    commitHere(`Add feature login\n\nMahabharatha-Commit: ${tip}`);
    expect(await unmerged()).toBe(0);
  });

  it('is the same when its own branch is checked out, or was pushed', async () => {
    temp.git('update-ref', 'refs/remotes/origin/mahabharatha/login/integration', tip);
    temp.git('checkout', '--quiet', 'mahabharatha/login/integration');
    expect(await unmerged()).toBe(2);
    temp.git('update-ref', 'refs/remotes/origin/main', tip);
    expect(await unmerged()).toBe(0);
  });
});

describe('work that only refs of runs have', () => {
  it('is in no other branch when the integration branch was removed: the state knows its tip', async () => {
    temp.git('branch', '--quiet', '-D', 'mahabharatha/login/integration');
    expect(await unmerged()).toBe(2);
    commitHere(`Add feature login\n\nMahabharatha-Commit: ${tip}`);
    expect(await unmerged()).toBe(0);
  });

  it('is in no other branch when that commit is gone, too, and attempts are left', async () => {
    temp.git('update-ref', 'refs/mahabharatha/login/A/1', `${tip}~1`);
    temp.git('branch', '--quiet', '-D', 'mahabharatha/login/integration');
    expect(await unmerged('1'.repeat(40))).toBe(2);
  });

  it('is not merged by a checkout of it without a branch', async () => {
    temp.git('checkout', '--quiet', '--detach', tip);
    expect(await unmerged()).toBe(2);
    temp.git('tag', 'v1');
    expect(await unmerged()).toBe(0);
  });

  it('is not merged by the run of another feature, or by a pushed one, that began at its branch', async () => {
    temp.git('branch', 'mahabharatha/search/integration', tip);
    temp.git('update-ref', 'refs/remotes/origin/mahabharatha/search/integration', tip);
    expect(await unmerged()).toBe(2);
  });

  it('counts attempts and merges that were not published when no state says which of them are needed', async () => {
    for (const name of ['A/1', 'B/1', '@trial']) {
      temp.git('checkout', '--quiet', '--detach', 'main');
      temp.git('update-ref', `refs/mahabharatha/login/${name}`, temp.commit({ [`${name}.txt`]: 'x\n' }));
    }
    temp.git('checkout', '--quiet', 'main');
    expect(await unmerged()).toBe(2);
    expect(await unmerged(null)).toBe(5);
    commitHere(`Add feature login\n\nMahabharatha-Commit: ${tip}`);
    expect(await unmerged()).toBe(0);
    expect(await unmerged(null)).toBe(3);
    temp.git('branch', '--quiet', '--force', 'mahabharatha/login/integration', 'main');
    expect(await unmerged(null)).toBe(3);
  });

  it('of which a part is gone counts by refs', async () => {
    const lost = temp.git('rev-parse', `${tip}~1`);
    rmSync(path.join(temp.folder, '.git', 'objects', lost.slice(0, 2), lost.slice(2)));
    temp.git('update-ref', 'refs/mahabharatha/login/A/1', tip);
    expect([await unmerged(), await unmerged(null)]).toEqual([1, 2]);
  });
});

const done = (feature: string, task: string): unknown =>
  commitHere(`${task}\n\nMahabharatha-Feature: ${feature}\nMahabharatha-Task: ${task}`);

describe('tasks that are merged, of a run whose state is gone', () => {
  it('are those of the feature alone, also when its branch began at the one of another feature', async () => {
    temp.git('checkout', '--quiet', 'mahabharatha/login/integration');
    done('login', 'A');
    temp.git('checkout', '--quiet', '-b', 'mahabharatha/search/integration');
    done('search', 'B');
    temp.git('checkout', '--quiet', '--detach');
    const repository = await openRepository(temp.folder, temp.env);
    expect(await mergedTasks(repository, 'login')).toEqual(['A']);
    expect(await mergedTasks(repository, 'search')).toEqual(['B']);
    temp.git('branch', 'kept');
    expect(await mergedTasks(repository, 'search')).toEqual([]);
  });
});

async function merged(): Promise<object> {
  return Object.fromEntries(await mergedFeatures(await openRepository(temp.folder, temp.env)));
}

const said = (feature: string): string => `Add a feature\n\nMahabharatha-Feature: ${feature}`;

describe('a merged feature', () => {
  it('is known by the newest commit of another branch that says so, and not by its own branches', async () => {
    temp.git('checkout', '--quiet', 'mahabharatha/login/integration');
    commitHere(said('login'));
    temp.git('update-ref', 'refs/remotes/origin/mahabharatha/login/integration', 'HEAD');
    expect(await merged()).toEqual({});
    temp.git('checkout', '--quiet', 'main');
    commitHere(said('login'));
    commitHere(`${said('login')}\nMahabharatha-Run: x\n\nquoted: Mahabharatha-Feature: other`);
    const newest = temp.git('rev-parse', 'HEAD');
    commitHere('later');
    expect(await merged()).toEqual({ login: newest });
    temp.git('reset', '--quiet', '--hard', 'HEAD~3');
    expect(await merged()).toEqual({});
    temp.git('update-ref', 'refs/remotes/origin/main', newest);
    expect(await merged()).toEqual({ login: newest });
  });
});
