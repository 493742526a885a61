import { firstLine } from '../lib/text/words.ts';
import { ALREADY_DONE } from '../protocol/index.ts';
import type { VerifyResult } from '../protocol/index.ts';
import type { AttemptState, TaskState } from '../state/index.ts';
import { ownedFiles, taskOf } from '../tasks/index.ts';
import { findWorker } from './decide-assignment.ts';
import { chargeOfEnd, endOf, wasOrchestratorAway } from './decide-losses.ts';
import { attemptFailed, hasWork, record, verificationId, workerExited } from './plan.ts';
import type { Action, Snapshot, WorkerView } from './plan.ts';
import { survey } from './survey.ts';

interface Verification {
  readonly id: string;
  readonly task: TaskState;
  readonly attempt: AttemptState;
}

/** Starts what is to be verified: work that is done and waits comes before new work. */
export function startVerifications(snapshot: Snapshot): Action[] {
  const taken = new Set<number>();
  return survey(snapshot).underWay.flatMap(({ id, task }): Action[] => {
    const attempt = task.attempts.at(-1);
    if (attempt === undefined || !hasWork(attempt) || attempt.verifier !== null) return [];
    const command = taskOf(snapshot.graph, id)?.verification?.command;
    if (command === undefined) return [acceptedBy({ id, task, attempt }, 'there is no verification any more')];
    const { worker, start } = findWorker(snapshot, taken);
    if (worker === undefined) return [];
    taken.add(worker);
    const commit = attempt.commit ?? attempt.base;
    const verify: Action = {
      kind: 'verify',
      task: id,
      worker,
      number: attempt.number,
      commit,
      cause: 'its work is there',
    };
    return start === undefined ? [verify] : [{ kind: 'start-worker', worker, base: commit, cause: start }, verify];
  });
}

/** What follows for an attempt whose work is being verified, or waits for that. */
export function settleVerification(snapshot: Snapshot, verification: Verification): Action[] {
  const { id, attempt } = verification;
  if (attempt.verifier === null) return [];
  // A worker that was killed, or has other work by now, has no view of this one.
  const isAtIt = snapshot.state.workers[attempt.verifier]?.task === id;
  const view = isAtIt ? snapshot.workers.get(attempt.verifier) : undefined;
  const { result } = view ?? {};
  if (result?.kind === 'verify' && result.attempt === verificationId(id, attempt.number))
    return judge(snapshot, verification, result);
  if (view?.alive && view.setupFailure === null) return [];
  return died(snapshot, verification, view);
}

function judge(snapshot: Snapshot, verification: Verification, result: VerifyResult): Action[] {
  const { id, attempt } = verification;
  const command = taskOf(snapshot.graph, id)?.verification?.command ?? '';
  if (result.error !== null) return [lost(snapshot, verification, `it could not be run: ${firstLine(result.error)}`)];
  if (result.ok) return [acceptedBy(verification, `${ifUnchanged(snapshot, verification)}verified by: ${command}`)];
  const detail = `the verification "${command}" failed: ${result.detail}`;
  return [refused(attempt, id, detail, `${detail}\nIts output:\n${result.output}`.trimEnd())];
}

/** In words, where a task with files of its own has changed nothing: it may. */
function ifUnchanged({ graph }: Snapshot, { id, attempt }: Verification): string {
  const task = taskOf(graph, id);
  const hasFiles = task !== undefined && ownedFiles(task.files).length > 0;
  return hasFiles && attempt.commit === attempt.base ? `${ALREADY_DONE}; ` : '';
}

/** What exceeds a limit, or makes a set-up fail that does not fail elsewhere, is the work itself. */
function died(snapshot: Snapshot, verification: Verification, view: WorkerView | undefined): Action[] {
  const { id, attempt } = verification;
  const { worker } = attempt;
  const how = endOf(snapshot, worker);
  const fault = view?.setupFailure ?? (view?.overLimit === true ? how : undefined);
  if (fault === undefined) return [lost(snapshot, verification, `worker ${worker} died: ${how}`)];
  const detail = `its verification could not be run: ${fault}`;
  // The failed set-up is that of this work, and does not end the run.
  const ended = workerExited(worker, true, firstLine(fault));
  return [refused(attempt, id, detail, detail), ended];
}

/** The work is kept, and verified again, while the task may lose workers. */
function lost(snapshot: Snapshot, { id, task, attempt }: Verification, cause: string): Action {
  const charge = wasOrchestratorAway(snapshot, attempt) ? 'nothing' : chargeOfEnd(snapshot);
  if (charge === 'nothing' || task.losses + 1 < snapshot.policy.losses)
    return record({ type: 'verification-lost', task: id, attempt: attempt.number, charge, cause });
  return attemptFailed(id, attempt, { outcome: 'lost', detail: `its verification came to no end: ${cause}`, charge });
}

function refused(attempt: AttemptState, id: string, detail: string, feedback: string): Action {
  return attemptFailed(id, attempt, { outcome: 'verification-failed', detail, feedback, charge: 'failure' });
}

function acceptedBy({ id, attempt }: Verification, detail: string): Action {
  const { number, worker, commit, base, usage } = attempt;
  return record({ type: 'attempt-accepted', task: id, attempt: number, worker, commit: commit ?? base, detail, usage });
}
