import { enter as enterPlaces } from '../lib/index.ts';
import type { Places } from '../lib/index.ts';
import { sandboxErrors } from './errors.ts';

/** At a time in one container; more wait. */
const AT_A_TIME = 16;
const WAITING = 64;

/** The programs of one language. */
export interface RunnerPlaces extends Places {
  readonly name: string;
}

/** Throws RUNNER_BUSY when too many wait already. */
export function enter(places: RunnerPlaces, gone: AbortSignal): Promise<() => void> {
  const busy = (waiting: number): Error => sandboxErrors.RUNNER_BUSY({ language: places.name, waiting });
  return enterPlaces(places, { running: AT_A_TIME, waiting: WAITING, busy }, gone);
}
