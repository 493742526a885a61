import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, simpleTask } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
  const folders = (project.env['PATH'] ?? '').split(':');
  project.env['PATH'] = folders.filter((folder) => !existsSync(path.join(folder, 'gh'))).join(':');
});
afterEach(() => project.remove());

const BRANCH = 'mahabharatha/login/integration';

/** Notes its arguments, one a line, and answers as GitHub's program does. */
async function addGh(exit: number): Promise<void> {
  const bin = path.join(project.outside, 'bin');
  await mkdir(bin, { recursive: true });
  const script = `#!/bin/bash\nprintf '%s\\n' "$@" > "$OUTSIDE/gh-args"\necho "not logged in" >&2\necho https://example.org/pull/7\nexit ${exit}\n`;
  await writeFile(path.join(bin, 'gh'), script);
  await chmod(path.join(bin, 'gh'), 0o755);
  if (project.env['PATH']?.startsWith(bin) !== true) project.env['PATH'] = `${bin}:${project.env['PATH']}`;
}

describe('merge --pr', () => {
  it('pushes the branch and lets gh open the pull request; without gh it says what to do, and pushes nothing', async () => {
    await project.graph('login', [simpleTask('A', { title: 'Types | <b>`x`</b>' }), simpleTask('B')]);
    expect((await project.cli('kurukshetra')).exit).toBe(0);
    const main = project.git('rev-parse', 'main');
    const tip = project.git('rev-parse', BRANCH).trim();
    const nowhere = await project.cli('merge', '--pr');
    expect([nowhere.exit, nowhere.stderr]).toEqual([
      2,
      expect.stringMatching(/has no remote[^]*git remote add origin/),
    ]);
    const remote = path.join(project.outside, 'remote.git');
    project.git('init', '--quiet', '--bare', remote);
    project.git('remote', 'add', 'origin', remote);
    const pushed = (): string => project.git('ls-remote', 'origin');
    const file = path.join(project.folder, '.mahabharatha/state/login/pull-request.md');

    const look = await project.cli('merge', '--pr', '--dry-run');
    expect([look.exit, look.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^A pull request for "login" into main of origin\. These files would change:\n {2}A\.txt\n/,
      ),
    ]);
    expect([existsSync(file), pushed()]).toEqual([false, '']);
    const byHand = await project.cli('merge', '--pr');
    expect(byHand.exit).toBe(0);
    expect(byHand.stdout).toContain(
      `nothing was pushed. By hand:\n  git push origin ${tip}:refs/heads/${BRANCH}\n  gh pr create --title 'Add feature login' --body-file ${file} --base main --head ${BRANCH}\n`,
    );
    const body = await readFile(file, 'utf8');
    expect(body).toContain(String.raw`| A | Types \| \<b\>\`x\`\</b\> | 1 | merged | 1 |`);
    expect(body).toMatch(new RegExp(`\nMahabharatha-Feature: login\nMahabharatha-Commit: ${tip}\n$`));
    expect(pushed()).toBe('');

    await addGh(0);
    const opened = await project.cli('merge', '--pr');
    expect([opened.exit, opened.stdout]).toEqual([
      0,
      expect.stringMatching(
        /Pushing .*login\/integration to origin\nOpening .*\nOpened: https:\/\/example.org\/pull\/7\n$/,
      ),
    ]);
    expect(pushed()).toBe(`${tip}\trefs/heads/${BRANCH}\n`);
    expect((await readFile(path.join(project.outside, 'gh-args'), 'utf8')).split('\n')).toEqual([
      'pr',
      'create',
      '--title',
      'Add feature login',
      '--body-file',
      file,
      '--base',
      'main',
      '--head',
      BRANCH,
      '',
    ]);
    expect(project.git('rev-parse', 'main')).toBe(main);
    expect((await project.cli('list')).stdout).toMatch(/^login {2}complete /);

    await addGh(4);
    const failed = await project.cli('merge', '--pr');
    expect([failed.exit, failed.stderr]).toEqual([
      4,
      expect.stringMatching(
        /no pull request was opened: gh ended with exit status 4: not logged in\n\nIts text is in /,
      ),
    ]);
    const wrong = await project.cli('merge', '--pr', '--squash');
    expect([wrong.exit, wrong.stderr]).toEqual([2, expect.stringContaining('--pr goes neither with --squash')]);
  });
});
