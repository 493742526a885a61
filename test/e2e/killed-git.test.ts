import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask as task } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;
beforeEach(async () => {
  project = await createProject();
  await project.graph('login', [task('A')]);
});
afterEach(() => project.remove());

const inGit = (...parts: string[]): string => path.join(project.folder, '.git', ...parts);

/** As after a kill between the opening of the last file of a record and its first byte. */
async function breakRecord(): Promise<void> {
  const record = inGit('worktrees', 'mahabharatha-worker-0');
  await mkdir(record, { recursive: true });
  const files = {
    locked: 'a Mahabharatha worker uses it\n',
    gitdir: `${project.inWorkers('login', '0', 'mahabharatha-worker-0', '.git')}\n`,
    HEAD: `${'0'.repeat(40)}\n`,
    commondir: '',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(record, name), text);
  expect(() => project.git('worktree', 'list')).toThrow('commondir');
}

async function expectMended(): Promise<void> {
  expect(project.git('worktree', 'list', '--porcelain').match(/^worktree /gm)).toHaveLength(1);
  project.git('gc', '--quiet');
  expect(await readdir(inGit('worktrees')).catch(() => [])).toEqual([]);
}

describe('a repository in which a killed git has left half a worktree', () => {
  it('can start a new run', async () => {
    await breakRecord();
    const run = await project.cli('kurukshetra');
    expect([run.exit, run.stderr]).toEqual([0, '']);
    await expectMended();
  });

  it('can be cleaned up, after a list of what will be removed', async () => {
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    await breakRecord();
    const [mine, branch] = [inGit('refs/heads/mine'), inGit('refs/heads/mahabharatha/login/worker-7')];
    for (const ref of [mine, branch]) await writeFile(ref, `${'1'.repeat(40)}\n`);
    await mkdir(inGit('refs/mahabharatha/login/B'), { recursive: true });
    await writeFile(inGit('refs/mahabharatha/login/B/4'), `${'1'.repeat(40)}\n`);
    await writeFile(inGit('packed-refs.lock'), '');
    const dry = await project.cli('cleanup', '--dry-run');
    expect([dry.exit, dry.stderr, dry.stdout]).toEqual([
      0,
      '',
      expect.stringContaining('2 commits are in no branch outside mahabharatha/.'),
    ]);
    await rm(mine);
    await breakRecord();
    await writeFile(inGit('refs/mahabharatha/login/B/1'), '');
    await writeFile(inGit('refs/mahabharatha/login/B/2.lock'), '');
    await writeFile(inGit('refs/mahabharatha/login/B/3'), `${'1'.repeat(40)}\n`);
    const clean = await project.cli('cleanup', '--yes');
    expect([clean.exit, clean.stderr]).toEqual([0, '']);
    await expectMended();
    expect(project.git('for-each-ref', 'refs/mahabharatha', 'refs/heads/mahabharatha')).toBe('');
  });
});

it('a clean-up that keeps a run, or is not confirmed, makes broken refs of its finished tasks again', async () => {
  await project.config('retry: { attempts: 1 }\n');
  await project.graph('login', [task('A'), task('B', { run: 'exit 1' })]);
  expect((await project.cli('kurukshetra')).exit).toBe(1);
  const ref = 'refs/mahabharatha/login/A/1';
  const commit = project.git('rev-parse', ref);
  for (const [args, exit] of [
    [['--all', '--yes'], 0],
    [['--feature', 'login'], 2],
  ] as const) {
    await writeFile(inGit(ref), '');
    expect((await project.cli('cleanup', ...args)).exit).toBe(exit);
    expect(project.git('rev-parse', ref)).toBe(commit);
  }
});

it('the next start removes drafts of killed processes and keeps those of live ones', async () => {
  const id = '0123456789abcdef';
  const at = (name: string): string => path.join(project.folder, '.mahabharatha', 'state', name);
  await mkdir(at('login'), { recursive: true });
  const dead = JSON.stringify({ pid: 1, started: 'never', host: hostname(), since: '', token: id });
  const left = [at(`.login.json.${id}.tmp`), at(`login/lock.json.${id}`), inGit(`mahabharatha-worktrees.lock.${id}`)];
  for (const file of left) await writeFile(file, file.endsWith('.tmp') ? '{' : dead);
  const fresh = at(`.search.json.${id}.tmp`);
  await writeFile(fresh, '{');
  await writeFile(at('.gitignore'), '');
  expect((await project.cli('kurukshetra')).exit).toBe(0);
  expect(left.filter((file) => existsSync(file))).toEqual([]);
  expect(existsSync(fresh)).toBe(true);
  expect(project.git('status', '--porcelain', '--untracked-files=all')).not.toContain('.mahabharatha/state');
});
