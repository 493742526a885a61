import type { ContainerInfo, Engine } from '../engines/index.ts';
import { LABEL } from './labels.ts';

const isWorker = ({ labels }: ContainerInfo): boolean => labels[LABEL.role] === 'worker';

/**
 * Removes every container and volume of a run, whatever state they are in. Returns how many containers there were.
 * Workers go first: one that lost its way out for its last moment would report that its task has failed.
 */
export async function sweepRun(engine: Engine, runId: string): Promise<number> {
  const labels = { [LABEL.run]: runId };
  const containers = await engine.listContainers(labels);
  for (const some of [containers.filter(isWorker), containers.filter((one) => !isWorker(one))])
    await Promise.all(some.map(({ id }) => engine.removeContainer(id)));
  const volumes = await engine.listVolumes(labels);
  await Promise.all(volumes.map(({ name }) => engine.removeVolume(name)));
  return containers.length;
}
