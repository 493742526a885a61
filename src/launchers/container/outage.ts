import type { Engine } from '../../engines/index.ts';
import { hasCode, sleep } from '../../lib/index.ts';

/** An engine that is started anew is back by then; workers live on without it, or have ended. */
const OUTAGE_MS = 30_000;
const LOOK_AGAIN_MS = 500;

/** Does the work; where the engine goes away, waits until it is back and does it again. */
export type Patience = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** One for each engine: however many wait for it, it is asked once. Rejects when it stays away, as the work did. */
export function createPatience(engine: Engine, outageMs = OUTAGE_MS): Patience {
  let coming: Promise<boolean> | undefined;
  const comesBack = (): Promise<boolean> => {
    coming ??= isBackWithin(engine, outageMs).finally(() => (coming = undefined));
    return coming;
  };
  return async (work) => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!hasCode(error, 'ENGINE_UNREACHABLE') || !(await comesBack())) throw error;
      }
    }
  };
}

/** One that is just going away may answer once more: it is not asked at once. */
async function isBackWithin(engine: Engine, limitMs: number): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  while (performance.now() < deadline) {
    await sleep(LOOK_AGAIN_MS);
    const there = await engine.info().then(
      () => true,
      () => false,
    );
    if (there) return true;
  }
  return false;
}
