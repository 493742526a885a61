import type { ContainerInfo, Engine } from '../engines/index.ts';
import { NO_PROOFS } from './container-wish.ts';
import type { ContainerWish } from './container-wish.ts';
import type { Watches } from './keep-watch.ts';
import type { OwnerParts } from './owner-parts.ts';
import { orRemove } from './removal.ts';
import { startContainer, underFreeName } from './start-container.ts';

/** A container whose first program has started, and waits for its first line. */
export interface HeldContainer {
  /** Resolves when it is gone, however that came. */
  readonly gone: Promise<void>;
  /**
   * Gives it one of the names of its wish, and its first line: from now on it is like every other container. Rejects when
   * that cannot be done; then nothing of it is left.
   */
  begin(): Promise<ContainerInfo>;
  /** Resolves when nothing of it is left. */
  remove(): Promise<void>;
}

interface Parts {
  readonly engine: Engine;
  readonly owners: OwnerParts;
  readonly watches: Watches;
}

export async function holdContainer(
  { engine, owners, watches }: Parts,
  wish: ContainerWish,
  names: ContainerWish['names'],
): Promise<HeldContainer> {
  const { client, owner, upkeep } = wish;
  const { wayOut, proofsOf } = await owners.of(owner);
  const proofs = client === null ? NO_PROOFS : proofsOf(client, wish.reach);
  const started = await startContainer(engine, { ...wish, names }, { keep: upkeep.keep, waits: true, ...proofs });
  const { info, output, tell } = started;
  const { id, createdAt } = info;
  const needs = async (): Promise<void> => (client === null ? undefined : wayOut());
  await orRemove(engine, id, needs());
  const begin = async (): Promise<ContainerInfo> => {
    await needs();
    const name = await underFreeName(wish.names, async (free) => {
      await engine.renameContainer(id, free);
      return free;
    });
    await tell();
    void watches.begin({ owner, id, createdAt, upkeep }, output);
    return { ...info, name };
  };
  return {
    gone: engine.waitContainer(id).then(
      () => undefined,
      () => undefined,
    ),
    begin: () => orRemove(engine, id, begin()),
    remove: async () => {
      await engine.removeContainer(id);
      await output.settled();
    },
  };
}
