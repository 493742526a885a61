import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProject, simpleTask as task } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { waitUntil } from '../support/wait-until.ts';

let project: TestProject;
let second: TestProject;

const INTEGRATION = 'mahabharatha/login/integration';
const inState = (tree: TestProject, ...parts: string[]): string =>
  path.join(tree.folder, '.mahabharatha', 'state', ...parts);

/** A git that makes the branch before its caller does, once, as a run in another working tree would. */
const RACING_GIT = `#!/bin/bash
PATH=\${PATH#*:}
if [[ " $* " == *" update-ref "* ]] && rm "$OUTSIDE/race" 2>/dev/null; then git branch ${INTEGRATION} </dev/null; fi
exec git "$@"
`;

beforeEach(async () => {
  project = await createProject();
  await project.graph('login', [
    task('A', { run: 'touch $OUTSIDE/begun; until [ -e $OUTSIDE/go ]; do sleep 0.05; done; echo A > A.txt' }),
  ]);
  project.commit('specs');
  const folder = path.join(path.dirname(project.folder), 'second');
  project.git('worktree', 'add', '--quiet', '-b', 'second', folder);
  second = project.at(folder);
});
const finish = (): Promise<void> => writeFile(path.join(project.outside, 'go'), '');

afterEach(async () => {
  await finish();
  await project.remove();
});

it('a run of another working tree is neither started again nor resumed', async () => {
  const run = project.start('kurukshetra');
  // Until then the run makes refs itself.
  await waitUntil('the task is at work', () => existsSync(path.join(project.outside, 'begun')));
  const refs = project.git('for-each-ref');
  const refused = {
    exit: 2,
    stderr: expect.stringContaining(`another working tree of this repository: ${project.folder}`),
  };
  expect(await second.cli('kurukshetra')).toMatchObject(refused);
  expect(existsSync(inState(second, 'login'))).toBe(false);
  expect(await second.cli('status')).toMatchObject(refused);
  await rm(path.join(second.folder, '.mahabharatha', 'specs'), { recursive: true });
  expect(await second.cli('kurukshetra', '--feature', 'login', '--resume')).toMatchObject(refused);
  second.git('checkout', '--quiet', '.');

  // As an earlier version has left it when both were started together.
  await mkdir(inState(second), { recursive: true });
  await writeFile(inState(second, 'login.json'), JSON.stringify({ ...(await project.state()), status: 'stopped' }));
  const resumed = await second.cli('kurukshetra', '--resume');
  expect(resumed).toMatchObject(refused);
  expect(resumed.stderr).toContain(`rm '${inState(project, 'login.json')}'`);
  expect(project.git('for-each-ref')).toBe(refs);
  await finish();
  expect((await run.end).exit).toBe(0);
});

it('a run that another working tree was faster to begin leaves nothing, and can be started later', async () => {
  const bin = path.join(project.outside, 'bin');
  await mkdir(bin);
  await writeFile(path.join(bin, 'git'), RACING_GIT);
  await chmod(path.join(bin, 'git'), 0o755);
  await writeFile(path.join(project.outside, 'race'), '');
  await finish();
  const { PATH } = project.env;
  project.env['PATH'] = `${bin}:${PATH}`;
  const late = await second.cli('kurukshetra');
  project.env['PATH'] = PATH;
  expect(late).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`The branch ${INTEGRATION} was made by another`),
  });
  expect(await readdir(inState(second)).catch(() => [])).toEqual([]);
  project.git('branch', '-D', INTEGRATION);
  expect((await second.cli('kurukshetra')).exit).toBe(0);
});
