import { inDuration } from '../lib/text/amounts.ts';
import type { Action, StopRequest } from './plan.ts';

/** What may stop a run. */
export interface StopFacts {
  readonly asked: StopRequest | null;
  /** Why no worker can be started or asked about. */
  readonly outage: string | undefined;
  /** By this process. */
  readonly spentMs: number;
  /** None when null. */
  readonly limitMs: number | null;
}

export function whyStop({ asked, outage, spentMs, limitMs }: StopFacts): StopRequest | null {
  if (asked !== null) return asked;
  if (outage !== undefined) return stopForOutage(outage);
  if (limitMs === null || spentMs < limitMs) return null;
  return { status: 'paused', exit: 3, cause: `time ${inDuration(spentMs)}, cap ${inDuration(limitMs)}` };
}

/** Without the engine nothing can go on. What is done is kept, and the run can be resumed. */
export function stopForOutage(cause: string): StopRequest {
  return { status: 'stopped', exit: 4, cause };
}

/** After a stop in the middle of a turn nothing new begins; what has happened is still recorded and taken. */
export function goesOnAtStop({ kind }: Action): boolean {
  return kind === 'record' || kind === 'kill-worker' || kind === 'retire-worker' || kind === 'take-result';
}
