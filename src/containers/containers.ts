import type { ContainerInfo, Engine, Labels } from '../engines/index.ts';
import { within } from '../lib/index.ts';
import { NO_PROOFS } from './container-wish.ts';
import type { ContainerEnd, ContainerWish, StartedContainer } from './container-wish.ts';
import { createWatches } from './keep-watch.ts';
import type { Watches } from './keep-watch.ts';
import type { ContainersOptions } from './options.ts';
import { createOwnerParts } from './owner-parts.ts';
import type { OwnerParts } from './owner-parts.ts';
import { LABEL } from './owner.ts';
import { holdContainer } from './hold-container.ts';
import type { HeldContainer } from './hold-container.ts';
import { createPending } from './pending.ts';
import type { Pending } from './pending.ts';
import { orRemove } from './removal.ts';
import { createRetry } from './retry.ts';
import type { RetryOutage } from './retry.ts';
import { startContainer } from './start-container.ts';
import { sweepOwner } from './sweep.ts';

/** Between SIGKILL and removal by force, which also ends a container that is paused or stuck. */
const KILL_MS = 5000;
/** How long a sweep waits for containers that are being made, so that it removes them too. */
const MAKING_MS = 30_000;

/** Locked-down containers, each of which has an owner. Stopping and recovering something that is gone is not an error. */
export interface Containers {
  /** The wish may still be in the making: a sweep waits for it. */
  start(wish: Promise<ContainerWish>): Promise<ContainerInfo>;
  /** Starts one that waits for its first line, under other names; until it begins nothing watches what it keeps. */
  hold(wish: Promise<ContainerWish>, names: ContainerWish['names']): Promise<HeldContainer>;
  /** Whether it is still the container that was started, and running. If so, it is watched from now on. */
  recover(container: StartedContainer): Promise<boolean>;
  /** Resolves when it is gone; rejects with ENGINE_UNREACHABLE when that cannot be known. */
  wait(container: StartedContainer): Promise<ContainerEnd>;
  /** SIGTERM; after the grace it is killed. */
  stop(container: StartedContainer, graceMs: number): Promise<ContainerEnd>;
  /** Removes all that the owner has in the engine. Returns how many containers that were. */
  sweep(ownerId: string): Promise<number>;
}

interface Parts {
  readonly engine: Engine;
  readonly retry: RetryOutage;
  readonly pending: Pending;
  readonly owners: OwnerParts;
  readonly watches: Watches;
}

export function createContainers(options: ContainersOptions): Containers {
  const { engine } = options;
  const retry = createRetry(engine, options.outageMs);
  const pending = createPending();
  const making: RetryOutage = (work) => pending.add(retry(work));
  const owners = createOwnerParts(options, making);
  const parts: Parts = { engine, retry, pending, owners, watches: createWatches(engine, retry) };
  return {
    start: (wish) => {
      let tries = 0;
      return making(async () => start(parts, await wish, tries++ > 0));
    },
    hold: (wish, names) => pending.add(wish.then((known) => holdContainer(parts, known, names))),
    recover: (container) => recover(parts, container),
    wait: parts.watches.end,
    stop: async (container, graceMs) => {
      const end = parts.watches.end(container);
      if (graceMs === 0) parts.watches.letBe(container.id);
      // Its end counts also while the engine does not answer.
      await Promise.race([end, retry(() => endContainer(engine, container.id, end, graceMs))]);
      return end;
    },
    sweep: async (ownerId) => {
      await owners.close(ownerId);
      const swept = await sweepWith(engine, ownerId, pending);
      // What could not be removed, or is still being made, is left to the sweeper.
      if (pending.isEmpty()) owners.forget(ownerId);
      return swept;
    },
  };
}

async function start({ engine, owners, watches }: Parts, wish: ContainerWish, again: boolean): Promise<ContainerInfo> {
  const { client, owner, upkeep } = wish;
  if (again) await removeAll(engine, { [LABEL.session]: wish.session });
  const { wayOut, proofsOf } = await owners.of(owner);
  const proofs = client === null ? NO_PROOFS : proofsOf(client, wish.reach);
  const { info, output } = await startContainer(engine, wish, { keep: upkeep.keep, ...proofs });
  void watches.begin({ owner, id: info.id, createdAt: info.createdAt, upkeep }, output);
  // Not at the same time, which would be slower: the container waits for its way out when it needs it.
  if (client !== null) await orRemove(engine, info.id, wayOut());
  return info;
}

async function recover({ engine, pending, owners, watches }: Parts, container: StartedContainer): Promise<boolean> {
  if (!(await isStillThere(engine, container))) return false;
  // Its owner needs its sweeper and its egress proxy again. If that fails, the container works on, without a network.
  pending.add(owners.of(container.owner).then(({ wayOut }) => wayOut())).catch(() => undefined);
  void watches.end(container).catch(() => undefined);
  return true;
}

/** Sweeps again after what is being made now. */
async function sweepWith(engine: Engine, ownerId: string, pending: Pending): Promise<number> {
  const swept = await sweepOwner(engine, ownerId);
  if (pending.isEmpty()) return swept;
  await pending.emptyWithin(MAKING_MS);
  return swept + (await sweepOwner(engine, ownerId));
}

/** Whether it is the same container, and alive. The remains of a dead one are removed. */
async function isStillThere(engine: Engine, { id, createdAt }: StartedContainer): Promise<boolean> {
  const info = await engine.inspectContainer(id);
  if (info === undefined || info.createdAt !== createdAt) return false;
  if (info.status === 'running' || info.status === 'paused') return true;
  await engine.removeContainer(info.id);
  return false;
}

/** Removes what is left of a start that the engine did not answer. */
async function removeAll(engine: Engine, labels: Labels): Promise<void> {
  for (const { id } of await engine.listContainers(labels)) await engine.removeContainer(id);
}

/** SIGTERM, SIGKILL after the grace, then removal by force. */
async function endContainer(engine: Engine, id: string, end: Promise<unknown>, graceMs: number): Promise<void> {
  const gone = end.then(
    () => true,
    () => true,
  );
  if (graceMs > 0) {
    await engine.signalContainer(id, 'SIGTERM');
    if (await within(graceMs, gone)) return;
  }
  await engine.signalContainer(id, 'SIGKILL');
  if (!(await within(KILL_MS, gone))) await engine.removeContainer(id);
}
