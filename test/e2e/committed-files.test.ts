import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repositoryKey } from '../../src/state/run-place.ts';
import { createProject, simpleTask as task } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
  await project.graph('docs', [task('A')]);
  await mkdir(path.join(project.outside, 'docs', 'deep'), { recursive: true });
  await writeFile(path.join(project.outside, 'docs', 'deep', 'mine'), 'mine\n');
});
afterEach(() => project.remove());

/** A link of the repository to something of the user's beside it. */
async function plantLink(file: string, target: string): Promise<void> {
  const link = path.join(project.folder, file);
  await mkdir(path.dirname(link), { recursive: true });
  await symlink(path.relative(path.dirname(link), path.join(project.outside, target)), link);
}

/** All that could be misled: none of them has touched the files outside. */
async function expectAllRefused(file: string): Promise<void> {
  for (const args of [
    ['kurukshetra'],
    ['kurukshetra', '--resume'],
    ['stop'],
    ['retry'],
    ['cleanup', '--yes'],
    ['status'],
  ]) {
    const { exit, stderr } = await project.cli(...args, '--feature', 'docs');
    expect([args, exit]).toEqual([args, 2]);
    expect(stderr).toContain('where runs write what is for this machine alone');
    expect(stderr).toContain(file);
  }
  expect(await readdir(project.outside, { recursive: true })).toEqual(['docs', 'docs/deep', 'docs/deep/mine']);
  expect(await readFile(path.join(project.outside, 'docs/deep/mine'), 'utf8')).toBe('mine\n');
}

describe('files that are committed where runs write', () => {
  it.each([
    ['.mahabharatha/state/docs', 'docs'],
    ['.mahabharatha/worktrees', '.'],
    ['.mahabharatha/git', '.'],
    ['.mahabharatha/logs/docs', 'docs'],
    ['.mahabharatha/logs/docs/worker-0.jsonl', 'docs/deep/mine'],
    ['.mahabharatha/state/docs/events.jsonl', 'docs/deep/mine'],
  ])('do not make a run or a clean-up leave the repository: a link at %s', async (file, target) => {
    await plantLink(file, target);
    project.commit('a link');
    await expectAllRefused(file);
  });

  it('are not used as the state of a resumed run', async () => {
    expect((await project.cli('kurukshetra', '--feature', 'docs')).exit).toBe(0);
    project.git('add', '--force', '.mahabharatha/state/docs.json', '.mahabharatha/state/docs');
    project.commit('a state');
    await expectAllRefused('.mahabharatha/state/docs.json');

    project.git('rm', '-r', '--quiet', '--cached', '.mahabharatha/state');
    project.commit('no state');
    expect((await project.cli('status')).exit).toBe(0);
  });

  it('are refused when they are a submodule in place of the whole folder', async () => {
    const inner = path.join(project.folder, '.mahabharatha');
    project.git('init', '--quiet', inner);
    project.git('-C', inner, 'commit', '--quiet', '--allow-empty', '--message', 'inner');
    project.git('-c', 'advice.addEmbeddedRepo=false', 'add', '--force', '.mahabharatha');
    project.git('commit', '--quiet', '--message', 'a submodule');
    await expectAllRefused('.mahabharatha');
  });
});

it('a folder for workers that only the repository names is never cleaned up', async () => {
  const key = repositoryKey(project.folder);
  await plantLink(`planted/mahabharatha-${process.getuid?.()}/${key}`, '.');
  await project.config(`workers: { folder: "${project.folder}/planted" }\n`);
  project.commit('a folder');

  for (const args of [['stop'], ['cleanup', '--yes']]) {
    const { exit } = await project.cli(...args, '--feature', 'docs');
    expect(exit).toBe(0);
  }
  expect((await project.cli('kurukshetra', '--feature', 'docs')).exit).toBe(4);
  expect(await readdir(project.outside, { recursive: true })).toEqual(['docs', 'docs/deep', 'docs/deep/mine']);
});
