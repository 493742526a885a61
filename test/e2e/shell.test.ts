import { readdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { killIfThere } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { simpleTask, waitFor } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const LIVE =
  'echo from the task > seen.txt; echo mine > ~/of-the-task; env | sort > /tmp/task-env; until [ -e /tmp/go ]; do sleep 0.05; done; echo A > A.txt; rm seen.txt';

describe.skipIf(docker.why !== '')(`a shell in the container of a task${whySkipped}`, () => {
  let project: ContainerProject;
  let live: ReturnType<ContainerProject['start']> | undefined;
  beforeAll(buildWorkerImage);
  beforeEach(async () => {
    live = undefined;
    project = await createContainerProject({
      env: { TERM: 'xterm', GIVEN: 'given', ANTHROPIC_API_KEY: 'sk-secret-key' },
    });
  });
  afterEach(async () => {
    if (live !== undefined) killIfThere(live.pid, 'SIGINT');
    await live?.end;
    expect(project.leftovers()).toEqual([]);
    expect(folders()).toEqual([]);
    await project.remove();
  });
  const top = (): string => path.join(project.env['HOME'] ?? '', '.local/state/mahabharatha/runs');
  const folders = (): string[] => readdirSync(top()).filter((name) => name === 'shells');
  const shell = (...args: string[]) => project.cli('shell', ...args);
  const refs = (): string => project.git('for-each-ref');

  /** A run whose task FAILED has failed with a commit, and NOTHING without one. */
  const failedRun = async (): Promise<void> => {
    await project.config('workers: { mode: container, container: { network: none } }\nretry: { attempts: 1 }\n');
    await project.graph('login', [
      simpleTask('FAILED', { run: 'echo half > FAILED.txt', verify: 'false' }),
      simpleTask('NOTHING', { run: 'exit 3' }),
      simpleTask('LATER', { level: 2, dependencies: ['FAILED'] }),
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout).toBe(1);
  };

  const liveRun = async (): Promise<void> => {
    await project.graph('login', [simpleTask('A', { run: LIVE })]);
    live = project.start('kurukshetra', '--workers', '1');
    await waitFor(
      'the task is under way',
      async () => (await shell('A', '--', 'test', '-e', '/tmp/task-env')).exit === 0,
    );
  };

  it('is where the task is while it is worked on: its files, user and variables, and it goes on', async () => {
    await liveRun();
    const mine = await shell(
      'A',
      '--',
      'sh',
      '-c',
      'cat seen.txt ~/of-the-task; id -u; pwd; env | sort > /tmp/my-env; diff /tmp/task-env /tmp/my-env',
    );
    const [seen, home, uid, folder, ...different] = mine.stdout.trim().split('\n');
    expect([seen, home, folder]).toEqual(['from the task', 'mine', '/workspace']);
    expect(uid).not.toBe('0');
    // The shells between are others.
    const names = different.map((text) => text.replace(/=.*/, '')).filter((text) => /^[<>] (?!SHLVL|_)/.test(text));
    expect(names.toSorted()).toEqual(['< MAHABHARATHA_CHILD', '> MAHABHARATHA_SHELL']);
    expect((await shell('0', '--', 'touch', '/tmp/go')).exit).toBe(0);
    const { exit, stdout } = (await live?.end) ?? {};
    expect(exit, stdout).toBe(0);
  });

  it('is on the commit of a failed attempt, and nothing of it comes back', async () => {
    await failedRun();
    const before = refs();
    const script =
      'cat FAILED.txt; git log -1 --format=%s; echo more > FAILED.txt; git commit -qam more; git status --short; exit 7';
    const { exit, stdout, stderr } = await shell('FAILED', '--', 'sh', '-c', script);
    expect(stderr).toMatch(/fresh container.*attempt 1 of FAILED \(verification-failed\)/);
    expect(stdout).toBe('half\nFAILED: Task FAILED\n');
    expect(exit).toBe(7);
    expect(refs()).toBe(before);
    expect((await shell('FAILED', '--', 'cat', 'FAILED.txt')).stdout).toBe('half\n');
  });

  it('is on what the task starts from when there is no commit, and says so', async () => {
    await failedRun();
    const nothing = await shell('NOTHING', '--', 'ls');
    expect([nothing.stdout, nothing.stderr]).toEqual(['README.md\n', expect.stringContaining('has left no commit')]);
    const later = await shell('LATER', '--', 'ls');
    expect([later.stdout, later.stderr]).toEqual(['README.md\n', expect.stringContaining('has not begun')]);
  });
});
