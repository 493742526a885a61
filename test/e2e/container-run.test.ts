import { execFileSync } from 'node:child_process';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventsSoFar, sees } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

describe.skipIf(docker.why !== '')(`a run in containers${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  it('does tasks of two levels side by side, merges them and leaves nothing behind', async () => {
    project = await createContainerProject();
    await project.graph('login', [
      { id: 'A', level: 1, create: ['a.txt'], run: 'echo a > a.txt', verify: 'test -s a.txt' },
      { id: 'B', level: 1, create: ['b.txt'], run: 'echo b > b.txt', verify: 'test -s b.txt' },
      { id: 'C', level: 2, create: ['c.txt'], run: 'cat a.txt b.txt > c.txt' },
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(stdout).toContain('2 workers (container)');
    expect(exit).toBe(0);
    expect(project.git('show', 'mahabharatha/login/integration:c.txt')).toBe('a\nb\n');
    const state = await project.state();
    const ended = Object.values(state.workers).map(({ mode, status }) => `${mode} ${status}`);
    expect(new Set(ended)).toEqual(new Set(['container STOPPED']));
    expect(project.git('branch', '--list', 'mahabharatha/login/worker-*')).toContain('worker-0');
  });

  it('restarts a worker whose container is killed, and says that it crashed', async () => {
    project = await createContainerProject();
    await project.graph('login', [
      {
        id: 'A',
        create: ['a.txt'],
        run: `if grep -q '"attempt":"A.1"' /run/mahabharatha/inbox/assignment.json; then sleep 3600; fi; echo a > a.txt`,
      },
    ]);
    const live = project.start('kurukshetra', '--workers', '1');
    await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'worker-phase'));
    const [first] = project.containers();
    execFileSync('docker', ['kill', first?.Id ?? '']);
    expect((await live.end).exit).toBe(0);
    const events = await project.events();
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'worker-exited', expected: false, cause: expect.stringContaining('SIGKILL') }),
    );
  });
});
