import type { Engine } from '../../engines/index.ts';
import { LABEL } from './labels.ts';

/** Removes every container and volume of a run, whatever state they are in. Returns how many containers there were. */
export async function sweepRun(engine: Engine, runId: string): Promise<number> {
  const labels = { [LABEL.run]: runId };
  const containers = await engine.listContainers(labels);
  await Promise.all(containers.map(({ id }) => engine.removeContainer(id)));
  const volumes = await engine.listVolumes(labels);
  await Promise.all(volumes.map(({ name }) => engine.removeVolume(name)));
  return containers.length;
}
