import type { ContainerInfo, Engine, Labels } from '../engines/index.ts';
import { sleep } from '../lib/index.ts';
import { EGRESS_ROLE, LABEL } from './owner.ts';

const ROUNDS = 50;
const PAUSE_MS = 200;

const isProxy = ({ labels }: ContainerInfo): boolean => labels[LABEL.role] === EGRESS_ROLE;

/**
 * Removes every container and volume of an owner, in any state. Returns how many containers there were. The egress proxy
 * is removed last: a client that loses its network before its end would report failed work.
 */
export async function sweepOwner(engine: Engine, ownerId: string): Promise<number> {
  const labels = { [LABEL.owner]: ownerId };
  const containers = await engine.listContainers(labels);
  for (const some of [containers.filter((one) => !isProxy(one)), containers.filter(isProxy)])
    await removeAll(engine, some);
  await removeRest(engine, labels);
  const volumes = await engine.listVolumes(labels);
  await Promise.all(volumes.map(({ name }) => engine.removeVolume(name)));
  return containers.length;
}

async function removeAll(engine: Engine, containers: readonly ContainerInfo[]): Promise<void> {
  await Promise.all(containers.map(({ id }) => engine.removeContainer(id)));
}

/** A removal by the engine itself may have been under way, and have failed, as in an engine that was stopped meanwhile. */
async function removeRest(engine: Engine, labels: Labels): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const rest = await engine.listContainers(labels);
    if (rest.length === 0) return;
    await sleep(PAUSE_MS);
    await removeAll(engine, rest);
  }
}
