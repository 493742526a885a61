import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { reasonOf } from '../lib/index.ts';

/**
 * Removes a container that failed. Its folders are used again: as long as it may still write them, the engine counts as
 * gone, and this rejects with ENGINE_UNREACHABLE.
 */
export async function removeForSure(engine: Engine, id: string): Promise<void> {
  try {
    await engine.removeContainer(id);
  } catch (error) {
    if (await isDead(engine, id)) return;
    throw engineErrors.ENGINE_UNREACHABLE({ tried: [reasonOf(error)] }, { cause: error });
  }
}

/** Its remains may be hard to remove; they do no harm. One that was made may still be started by a call of ours. */
async function isDead(engine: Engine, id: string): Promise<boolean> {
  return engine.inspectContainer(id).then(
    (info) => info === undefined || info.status === 'exited' || info.status === 'other',
    () => false,
  );
}
