import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { hasCode, sleep, systemClock } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';

/** Longer than the restart of an engine. Containers live on without it, or have ended. */
const OUTAGE_MS = 30_000;
const LOOK_AGAIN_MS = 500;
/** How often a call is tried when the engine comes back each time and is away for it again. */
const ROUNDS = 5;
/** A call that took longer than this has reached the engine: an outage after it is a new one. */
const CALM_MS = 600_000;

/** Does the work. When the engine is away, waits until it is back and does the work again. */
export type RetryOutage = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * One for each engine, which is asked once however many calls wait for it. Rejects with ENGINE_UNREACHABLE when the engine
 * stays away, or answers other calls and never this one.
 */
export function createRetry(engine: Engine, outageMs = OUTAGE_MS): RetryOutage {
  let coming: Promise<boolean> | undefined;
  const comesBack = (): Promise<boolean> => {
    coming ??= isBackWithin(engine, outageMs).finally(() => (coming = undefined));
    return coming;
  };
  return async (work) => {
    for (let round = 1; ; round += 1) {
      const since = systemClock.monotonic();
      try {
        return await work();
      } catch (error) {
        const outage = await asOutage(engine, error);
        if (outage === undefined) throw error;
        if (systemClock.monotonic() - since > CALM_MS) round = 1;
        if (round >= ROUNDS || !(await comesBack())) throw outage;
      }
    }
  };
}

/** A call that takes too long is no outage, unless the engine does not answer the shortest call either. */
async function asOutage(engine: Engine, error: unknown): Promise<AppError | undefined> {
  if (hasCode(error, engineErrors.ENGINE_UNREACHABLE)) return error;
  if (!hasCode(error, engineErrors.ENGINE_TIMEOUT) || (await isThere(engine))) return undefined;
  return engineErrors.ENGINE_UNREACHABLE({ tried: [error.message] }, { cause: error });
}

function isThere(engine: Engine): Promise<boolean> {
  return engine.info().then(
    () => true,
    () => false,
  );
}

/** It is not asked at once: an engine that is ending may answer once more. */
async function isBackWithin(engine: Engine, limitMs: number): Promise<boolean> {
  const deadline = systemClock.monotonic() + limitMs;
  while (systemClock.monotonic() < deadline) {
    await sleep(LOOK_AGAIN_MS);
    if (await isThere(engine)) return true;
  }
  return false;
}
