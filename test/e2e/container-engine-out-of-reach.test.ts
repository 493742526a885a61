import { describe, expect, it, onTestFinished } from 'vitest';
import { busyWorkers, eventsSoFar, sees } from '../support/chaos.ts';
import { createContainerProject } from '../support/container-project.ts';
import { createEngineDoor } from '../support/engine-door.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

describe.skipIf(docker.why !== '')(`an engine that is out of reach while its containers go on${whySkipped}`, () => {
  it('stops the run; a resume ends those containers before it tries their tasks again', async () => {
    await buildWorkerImage();
    const door = createEngineDoor();
    await door.open();
    onTestFinished(() => door.remove());
    const project = await createContainerProject({ workers: 'lease: 5m', env: { DOCKER_HOST: door.host } });
    onTestFinished(() => project.remove());
    await project.graph(
      'login',
      ['A', 'B'].map((id) => ({ id, create: [`${id}.txt`], run: `sleep 600; echo x > ${id}.txt` })),
    );
    const running = (): string[] =>
      project.containers().flatMap(({ Id, State, Name }) => (State.Running && Name.includes('worker') ? [Id] : []));

    const live = project.start('kurukshetra', '--workers', '2');
    if (!(await sees(live, () => busyWorkers(project).size === 2))) throw new Error(live.output());
    const before = running();
    expect(before).toHaveLength(2);
    door.shut();
    expect((await live.end).exit).toBe(4);
    expect(running()).toEqual(before);
    await door.open();

    const resumed = project.start('kurukshetra', '--resume');
    const again = (): number => eventsSoFar(project).filter(({ type }) => type === 'attempt-started').length;
    if (!(await sees(resumed, () => again() >= 4))) throw new Error(resumed.output());
    expect(running().filter((id) => before.includes(id))).toEqual([]);
    resumed.child.kill('SIGTERM');
    expect((await resumed.end).exit).toBe(143);
    expect(project.leftovers()).toEqual([]);
  });
});
