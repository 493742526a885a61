import type { ContainerInfo, Engine } from '../engines/index.ts';
import { EGRESS_ROLE, LABEL } from './owner.ts';

const isProxy = ({ labels }: ContainerInfo): boolean => labels[LABEL.role] === EGRESS_ROLE;

/**
 * Removes every container and volume of an owner, in any state. Returns how many containers there were. The egress proxy
 * is removed last: a client that loses its network before its end would report failed work.
 */
export async function sweepOwner(engine: Engine, ownerId: string): Promise<number> {
  const labels = { [LABEL.owner]: ownerId };
  const containers = await engine.listContainers(labels);
  for (const some of [containers.filter((one) => !isProxy(one)), containers.filter(isProxy)])
    await Promise.all(some.map(({ id }) => engine.removeContainer(id)));
  const volumes = await engine.listVolumes(labels);
  await Promise.all(volumes.map(({ name }) => engine.removeVolume(name)));
  return containers.length;
}
