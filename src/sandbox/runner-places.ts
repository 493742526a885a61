import { sandboxErrors } from './errors.ts';

/** At a time in one container; more wait. */
const AT_A_TIME = 16;
const WAITING = 64;

/** The programs of one language. */
export interface RunnerPlaces {
  readonly name: string;
  running: number;
  readonly waiting: (() => void)[];
}

/**
 * Resolves when there is room. Throws RUNNER_BUSY when too many wait already, and the signal's reason when it fires before
 * there is room.
 */
export async function enter(places: RunnerPlaces, gone: AbortSignal): Promise<() => void> {
  gone.throwIfAborted();
  const { name: language, waiting } = places;
  if (waiting.length >= WAITING) throw sandboxErrors.RUNNER_BUSY({ language, waiting: waiting.length });
  if (places.running >= AT_A_TIME) await turn(waiting, gone);
  else places.running += 1;
  return () => {
    // The place goes to the next one, and the number stays.
    const next = waiting.shift();
    if (next === undefined) places.running -= 1;
    else next();
  };
}

function turn(waiting: RunnerPlaces['waiting'], gone: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => {
      waiting.splice(waiting.indexOf(go), 1);
      reject(gone.reason as Error);
    };
    const go = (): void => {
      gone.removeEventListener('abort', giveUp);
      resolve();
    };
    gone.addEventListener('abort', giveUp, { once: true });
    waiting.push(go);
  });
}
