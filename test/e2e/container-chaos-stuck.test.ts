import { execFileSync } from 'node:child_process';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findByEnvironment, SAME_MOMENT_MS } from '../../src/lib/index.ts';
import { delay, eventsSoFar, killIfThere, sees } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { slowTask as task } from '../support/project.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const run = (...args: string[]): string => execFileSync('docker', args, { encoding: 'utf8' }).trim();

/** The worker's own processes, from outside: the container has no program for it. */
function stopInside(id: string): void {
  const lines = run('top', id, '-eo', 'pid,args').split('\n').slice(1);
  const pids = lines.filter((line) => line.includes('/opt/mahabharatha/')).map((line) => Number.parseInt(line, 10));
  expect(pids, lines.join('\n')).not.toEqual([]);
  // One that was just starting another program may have ended.
  for (const pid of pids) killIfThere(pid, 'SIGSTOP');
}

/** The first attempt is at work until its worker is stopped, however long that takes. */
const FIRST_WAITS = `if grep -q '"attempt":"A.1"' /run/mahabharatha/inbox/assignment.json; then sleep 3600; fi`;

const STUCK = { 'docker pause': (id: string): void => void run('pause', id), SIGSTOP: stopInside };

describe.skipIf(docker.why !== '')(`workers in containers that do not answer${whySkipped}`, () => {
  const projects: ContainerProject[] = [];
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    for (const project of projects.splice(0)) {
      expect(project.leftovers()).toEqual([]);
      for (const pid of await findByEnvironment('HOME', project.env['HOME'] ?? '')) killIfThere(pid, 'SIGKILL');
      await project.remove();
    }
  });
  const newProject = async (): Promise<ContainerProject> => {
    const project = await createContainerProject({ workers: 'lease: 10s' });
    projects.push(project);
    return project;
  };

  it.each(['docker pause', 'SIGSTOP'] as const)('are noticed, killed and replaced (%s)', async (how) => {
    const project = await newProject();
    await project.graph('login', [{ ...task('A'), run: `${FIRST_WAITS}; echo A > A.txt` }]);
    const live = project.start('kurukshetra', '--workers', '1');
    await sees(live, () => eventsSoFar(project).some(({ type }) => type === 'worker-phase'));
    STUCK[how](project.containers()[0]?.Id ?? '');
    const { exit, stdout } = await live.end;
    expect(exit, stdout).toBe(0);
    expectSound(project, `a worker that stood still was replaced: ${how}`);
    expect(stdout).toMatch(/worker 0 is gone: no heartbeat for [\d.]+ s, limit 20 s/);
    const attempts = (await project.state()).tasks['A']?.attempts.map(({ outcome }) => outcome);
    expect(attempts).toEqual(['lost', 'accepted']);
  });

  it.each([1, 2])('are removed after Ctrl-C (%s times), also while they are being created', async (times) => {
    for (const moment of ['run-started', 'worker-phase'] as const) {
      const project = await newProject();
      await project.graph('login', [{ ...task('A', 0), run: "trap '' TERM; sleep 3600" }, task('B', 3600)]);
      const live = project.start('kurukshetra', '--workers', '2');
      await sees(live, () => eventsSoFar(project).some(({ type }) => type === moment));
      killIfThere(live.pid, 'SIGINT');
      await waitUntil('it has heard', () => live.output().includes('SIGINT: stopping'));
      if (times === 2) {
        await delay(SAME_MOMENT_MS + 50);
        killIfThere(live.pid, 'SIGINT');
      }
      expect((await live.end).exit).toBe(130);
      expect(project.leftovers(), moment).toEqual([]);
      // The sweeper ends when it has seen that the run ended in order.
      const left = (): Promise<number[]> => findByEnvironment('HOME', project.env['HOME'] ?? '');
      await waitUntil('no process is left', async () => (await left()).length === 0);
    }
  });
});
