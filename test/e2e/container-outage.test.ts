import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findByEnvironment } from '../../src/lib/index.ts';
import { busyWorkers, killIfThere, sees } from '../support/chaos.ts';
import type { LiveRun } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { copyImages, createSecondEngine, whyNoSecondEngine } from '../support/second-engine.ts';
import type { SecondEngine } from '../support/second-engine.ts';
import { waitUntil } from '../support/wait-until.ts';
import { buildWorkerImage, docker } from '../support/worker-image.ts';

const why = docker.why === '' ? whyNoSecondEngine() : docker.why;

describe.skipIf(why !== '')(`an engine that goes away in the middle of a run${why === '' ? '' : ` (${why})`}`, () => {
  let engine: SecondEngine;
  let project: ContainerProject;
  beforeAll(async () => {
    // What the run's image was made from is part of its name.
    const tag = await buildWorkerImage();
    engine = createSecondEngine();
    await engine.start();
    await copyImages([tag, docker.image], engine);
    engine.docker('tag', tag, 'mahabharatha-worker:latest');
  });
  afterAll(() => engine.remove());
  afterEach(async () => {
    // One that the engine is still removing is listed without a name.
    await waitUntil('no container is left', () => engine.docker('ps', '--all', '--quiet').split('\n').every(isGhost));
    for (const pid of await findByEnvironment('HOME', project.env['HOME'] ?? '')) killIfThere(pid, 'SIGKILL');
    await project.remove();
  });

  /** An engine that is killed while it makes a container may list it as dead until its next start, and knows nothing of it. */
  const isGhost = (id: string): boolean => {
    try {
      return id === '' || engine.docker('inspect', id) === '';
    } catch {
      return true;
    }
  };
  /** A run of two workers, of which one has been at its task for a moment. */
  const startRun = async (): Promise<LiveRun> => {
    project = await createContainerProject({ workers: 'lease: 5s', env: { DOCKER_HOST: engine.host } });
    await project.graph('login', [
      { id: 'A', create: ['A.txt'], run: 'sleep 3; echo "made by A" > A.txt' },
      { id: 'B', create: ['B.txt'], run: 'sleep 3; echo "made by B" > B.txt' },
    ]);
    const live = project.start('kurukshetra', '--workers', '2');
    if (!(await sees(live, () => busyWorkers(project).size === 2))) throw new Error(live.output());
    return live;
  };
  const expectBuilt = async (): Promise<void> => {
    for (const id of ['A', 'B'])
      expect(project.git('show', `mahabharatha/login/integration:${id}.txt`)).toBe(`made by ${id}\n`);
    const { tasks } = await project.state();
    expect(Object.values(tasks).map(({ failures }) => failures)).toEqual([0, 0]);
    expectSound(project, 'a run that is complete');
  };

  it.each(['SIGTERM', 'SIGKILL'] as const)('survives that it is started anew within seconds (%s)', async (signal) => {
    const live = await startRun();
    await engine.end(signal);
    await engine.start();
    const { exit, stdout, stderr } = await live.end;
    expect(exit, `${stdout}\n${stderr}`).toBe(0);
    await expectBuilt();
  });

  it('stops with a clear cause when it stays away, and goes on when it is back', async () => {
    const live = await startRun();
    await engine.end('SIGTERM');
    const { exit, stdout, stderr } = await live.end;
    expect(exit, `${stdout}\n${stderr}`).toBe(4);
    const { status, cause, workers, tasks } = await project.state();
    expect([status, cause]).toEqual(['stopped', expect.stringContaining(engine.host.slice('unix://'.length))]);
    expect(Object.values(workers).filter((worker) => ['RUNNING', 'IDLE'].includes(worker.status))).toEqual([]);
    expect(Object.values(tasks).filter((task) => task.status === 'running')).toEqual([]);
    const early = await project.cli('kurukshetra', '--resume');
    expect([early.exit, early.stderr]).toEqual([4, expect.stringContaining('No container engine can be reached')]);
    await engine.start();
    const resumed = await project.cli('kurukshetra', '--resume');
    expect(resumed.exit, `${resumed.stdout}\n${resumed.stderr}`).toBe(0);
    await expectBuilt();
    const processes = (): Promise<number[]> => findByEnvironment('HOME', project.env['HOME'] ?? '');
    await waitUntil('no process of it is left', async () => (await processes()).length === 0);
  });
});
