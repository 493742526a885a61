import { engineErrors } from '../engines/errors.ts';
import type { Engine } from '../engines/index.ts';
import { hasCode, sleep, systemClock } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';

/** An engine that is started anew is back by then; containers live on without it, or have ended. */
const OUTAGE_MS = 30_000;
const LOOK_AGAIN_MS = 500;
/** So often it may be there again, and away for the same call, before that call is given up. */
const ROUNDS = 5;
/** What is answered only after so long has found the engine: its next outage is a new one. */
const CALM_MS = 600_000;

/** Does the work; where the engine goes away, waits until it is back and does it again. */
export type RetryOutage = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * One for each engine: however many wait for it, it is asked once. Rejects with ENGINE_UNREACHABLE when it stays away, or
 * is there and answers everything but this.
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

/** A single call that takes too long is no outage; one that does not even say that it is there is as good as gone. */
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

/** One that is just going away may answer once more: it is not asked at once. */
async function isBackWithin(engine: Engine, limitMs: number): Promise<boolean> {
  const deadline = systemClock.monotonic() + limitMs;
  while (systemClock.monotonic() < deadline) {
    await sleep(LOOK_AGAIN_MS);
    if (await isThere(engine)) return true;
  }
  return false;
}
