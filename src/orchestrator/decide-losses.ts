import type { WorkerExit } from '../launchers/index.ts';
import type { AttemptCharge, AttemptState } from '../state/index.ts';
import { attemptFailed } from './plan.ts';
import type { ActionOf, Snapshot } from './plan.ts';

interface UnderWay {
  readonly id: string;
  readonly attempt: AttemptState;
}

/** The end of a worker, in words. */
export interface WorkerEnd {
  readonly how: string;
  /** It went beyond a limit: that is charged to its task. */
  readonly overLimit: boolean;
}

export const GONE: WorkerEnd = { how: 'it is gone', overLimit: false };

export function endOfExit({ code, signal, overLimit }: WorkerExit): WorkerEnd {
  if (overLimit !== undefined) return { how: overLimit, overLimit: true };
  if (signal !== null) return { how: `killed by ${signal}`, overLimit: false };
  const how = code === null ? 'it ended, and how is not known' : `ended with exit status ${code}`;
  return { how, overLimit: false };
}

/** How a worker ended: as it was just seen; or, when the orchestrator killed it, why. */
export function endOf({ workers, state }: Snapshot, worker: number): string {
  return workers.get(worker)?.exit ?? state.workers[worker]?.cause ?? GONE.how;
}

/** What stops the run (a person, no descriptors left, no engine) may also have ended the worker, or kept it from starting. */
export function chargeOfEnd({ stop }: Snapshot): AttemptCharge {
  return stop === null ? 'loss' : 'nothing';
}

/**
 * True when no orchestrator was there for a while. Only then is a worker believed that says so, and one that is gone by
 * then may have ended for that reason.
 */
export function isLeftAlone({ workers }: Snapshot, { worker }: AttemptState): boolean {
  return workers.get(worker)?.leftAlone ?? false;
}

/** The worker ended, or was killed, before its attempt had a result. */
export function lost(snapshot: Snapshot, work: UnderWay): ActionOf<'record'> {
  const { worker } = work.attempt;
  const how = endOf(snapshot, worker);
  const overLimit = snapshot.workers.get(worker)?.overLimit ?? false;
  return attemptFailed(work.id, work.attempt, {
    outcome: 'lost',
    detail: `worker ${worker} died at work: ${how}`,
    feedback: overLimit ? `The last attempt was ended: ${how}` : null,
    charge: overLimit ? 'failure' : isLeftAlone(snapshot, work.attempt) ? 'nothing' : chargeOfEnd(snapshot),
  });
}

/** The worker could not set up its worktree: that ends the run, and is not charged to the task. */
export function notBegun({ id, attempt }: UnderWay): ActionOf<'record'> {
  const detail = `the set-up of worker ${attempt.worker} failed`;
  return attemptFailed(id, attempt, { outcome: 'interrupted', detail, charge: 'nothing' });
}

/** After a crash of the machine; or while the run goes on, and then not for ever. */
export function commitLost({ id, attempt }: UnderWay, commit: string, charge: 'nothing' | 'loss'): ActionOf<'record'> {
  const detail = `the repository has not all of its commit ${commit.slice(0, 12)} any more: the task is done again`;
  return attemptFailed(id, attempt, { outcome: 'lost', detail, charge });
}
