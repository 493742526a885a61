import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { reasonOf } from '../lib/index.ts';

/**
 * Removes a container that failed. Another container will use its folders: while this one may still write them, the engine
 * counts as gone, and this rejects with ENGINE_UNREACHABLE.
 */
export async function removeForSure(engine: Engine, id: string): Promise<void> {
  try {
    await engine.removeContainer(id);
  } catch (error) {
    if (await isDead(engine, id)) return;
    throw engineErrors.ENGINE_UNREACHABLE({ tried: [reasonOf(error)] }, { cause: error });
  }
}

/** Removes the container when what it needs cannot be had. */
export async function orRemove<Result>(engine: Engine, id: string, need: Promise<Result>): Promise<Result> {
  try {
    return await need;
  } catch (error) {
    await removeForSure(engine, id);
    throw error;
  }
}

/** Whether it can write no more. A container that was made and not started is not dead: a call of ours may still start it. */
async function isDead(engine: Engine, id: string): Promise<boolean> {
  return engine.inspectContainer(id).then(
    (info) => info === undefined || info.status === 'exited' || info.status === 'other',
    () => false,
  );
}
