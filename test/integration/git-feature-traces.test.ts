import { beforeEach, describe, expect, it } from 'vitest';
import { findTraces, mergedFeatures, openRepository } from '../../src/git/index.ts';
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

async function unmerged(): Promise<number> {
  const repository = await openRepository(temp.folder, temp.env);
  return (await findTraces(repository, 'login', [])).unmerged;
}

const commitOnMain = (message: string): unknown => temp.git('commit', '--quiet', '--allow-empty', '--message', message);

describe('the work of a feature that no other branch has', () => {
  it('counts by commits, and is none after a merge', async () => {
    expect(await unmerged()).toBe(2);
    temp.git('merge', '--quiet', '--no-ff', '--message', 'Merge', tip);
    expect(await unmerged()).toBe(0);
  });

  it('is none when a commit elsewhere says that it has all of it, squashed', async () => {
    commitOnMain(`Add feature login\n\nMahabharatha-Commit: ${temp.git('rev-parse', `${tip}~1`)}`);
    expect(await unmerged()).toBe(2);
    commitOnMain(`Add feature login\n\nMahabharatha-Commit: ${tip}`);
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

async function merged(): Promise<object> {
  return Object.fromEntries(await mergedFeatures(await openRepository(temp.folder, temp.env)));
}

const said = (feature: string): string => `Add a feature\n\nMahabharatha-Feature: ${feature}`;

describe('a merged feature', () => {
  it('is known by the newest commit of another branch that says so, and not by its own branches', async () => {
    temp.git('checkout', '--quiet', 'mahabharatha/login/integration');
    commitOnMain(said('login'));
    temp.git('update-ref', 'refs/remotes/origin/mahabharatha/login/integration', 'HEAD');
    expect(await merged()).toEqual({});
    temp.git('checkout', '--quiet', 'main');
    commitOnMain(said('login'));
    commitOnMain(`${said('login')}\nMahabharatha-Run: x\n\nquoted: Mahabharatha-Feature: other`);
    const newest = temp.git('rev-parse', 'HEAD');
    commitOnMain('later');
    expect(await merged()).toEqual({ login: newest });
    temp.git('reset', '--quiet', '--hard', 'HEAD~3');
    expect(await merged()).toEqual({});
    temp.git('update-ref', 'refs/remotes/origin/main', newest);
    expect(await merged()).toEqual({ login: newest });
  });
});
