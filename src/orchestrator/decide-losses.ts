import type { WorkerExit } from '../launchers/index.ts';
import type { AttemptCharge, AttemptState, TaskState } from '../state/index.ts';
import { endedForCost } from './decide-cost.ts';
import { attemptFailed } from './plan.ts';
import type { ActionOf, Snapshot } from './plan.ts';

interface UnderWay {
  readonly id: string;
  readonly task: TaskState;
  readonly attempt: AttemptState;
}

/** The end of a worker, in words. */
export interface WorkerEnd {
  readonly how: string;
  /** It exceeded a limit, or its commit cannot be checked out, which is charged to its task. */
  readonly overLimit: boolean;
  /** Why the set-up for it failed, before its start. */
  readonly setupFailure?: string;
}

export const GONE: WorkerEnd = { how: 'it is gone', overLimit: false };

export function endOfExit({ code, signal, overLimit }: WorkerExit): WorkerEnd {
  if (overLimit !== undefined) return { how: overLimit, overLimit: true };
  if (signal !== null) return { how: `killed by ${signal}`, overLimit: false };
  const how = code === null ? 'it ended, and how is not known' : `ended with exit status ${code}`;
  return { how, overLimit: false };
}

/** How a worker ended, as it was seen; or why the orchestrator killed it. */
export function endOf({ workers, state }: Snapshot, worker: number): string {
  return workers.get(worker)?.exit ?? state.workers[worker]?.cause ?? GONE.how;
}

/** What stops the run (a person, no descriptors left, no engine) may also have ended the worker, or prevented its start. */
export function chargeOfEnd({ stop }: Snapshot): AttemptCharge {
  return stop === null ? 'loss' : 'nothing';
}

/**
 * Whether no orchestrator was there for a while. Only then is a worker believed that reports it, and a worker that is gone
 * may have ended for that reason.
 */
export function wasOrchestratorAway({ workers }: Snapshot, { worker }: AttemptState): boolean {
  return workers.get(worker)?.orchestratorAway ?? false;
}

/** The worker ended, or was killed, before its attempt had a result. */
export function lost(snapshot: Snapshot, work: UnderWay): ActionOf<'record'> {
  const { worker } = work.attempt;
  const how = endOf(snapshot, worker);
  const { overLimit = false, usage = null } = snapshot.workers.get(worker) ?? {};
  const ofCost = endedForCost(snapshot, work);
  if (ofCost !== undefined) return attemptFailed(work.id, work.attempt, { ...ofCost, usage });
  return attemptFailed(work.id, work.attempt, {
    usage,
    outcome: 'lost',
    detail: `worker ${worker} died at work: ${how}`,
    feedback: overLimit ? `The last attempt was ended: ${how}` : null,
    charge: overLimit ? 'failure' : wasOrchestratorAway(snapshot, work.attempt) ? 'nothing' : chargeOfEnd(snapshot),
  });
}

/** The worker could not set up its worktree: that ends the run, and is not charged to the task. */
export function notBegun({ id, attempt }: Pick<UnderWay, 'id' | 'attempt'>): ActionOf<'record'> {
  const detail = `the set-up of worker ${attempt.worker} failed`;
  return attemptFailed(id, attempt, { outcome: 'interrupted', detail, charge: 'nothing' });
}

/** Charged as a loss while the run goes on, so that it cannot repeat without end; not charged after a crash. */
export function commitLost(
  { id, attempt }: Pick<UnderWay, 'id' | 'attempt'>,
  commit: string,
  charge: 'nothing' | 'loss',
): ActionOf<'record'> {
  return attemptFailed(id, attempt, { outcome: 'lost', detail: goneInWords(commit), charge });
}

export function goneInWords(commit: string): string {
  return `the repository has not all of its commit ${commit.slice(0, 12)} any more: the task is done again`;
}
