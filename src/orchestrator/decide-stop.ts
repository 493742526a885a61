import { inSeconds } from '../lib/text/amounts.ts';
import type { Action, StopRequest } from './plan.ts';

/** What may stop a run. */
export interface StopFacts {
  readonly asked: StopRequest | null;
  /** Why no worker can be started or asked about. */
  readonly outage: string | undefined;
  readonly spentMs: number;
  /** For the whole run; none when null. */
  readonly limitMs: number | null;
}

export function whyStop({ asked, outage, spentMs, limitMs }: StopFacts): StopRequest | null {
  if (asked !== null) return asked;
  if (outage !== undefined) return stopForOutage(outage);
  if (limitMs === null || spentMs < limitMs) return null;
  return { status: 'stopped', exit: 1, cause: `the run's time limit of ${inSeconds(limitMs)} is over` };
}

/** Without the engine nothing can go on. What is done is kept, and the run can be resumed. */
export function stopForOutage(cause: string): StopRequest {
  return { status: 'stopped', exit: 4, cause };
}

/** After a stop in the middle of a turn nothing new begins; what has happened is still recorded and taken. */
export function goesOnAtStop({ kind }: Action): boolean {
  return kind === 'record' || kind === 'kill-worker' || kind === 'retire-worker' || kind === 'take-result';
}
