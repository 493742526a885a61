import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { reasonOf } from '../lib/index.ts';

/**
 * Removes a worker that failed. The next one gets its folders: as long as it may be at work in them, the engine is as
 * good as gone. Rejects with ENGINE_UNREACHABLE then.
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
