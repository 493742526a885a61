import type { RunState } from '../state/index.ts';
import { credible } from './decide-claims.ts';
import { settleTasks } from './decide-results.ts';
import { hasWork, isLive, record, workerExited } from './plan.ts';
import type { ActionOf, FinishAction, Snapshot } from './plan.ts';
import { giveNewTries } from './retryable.ts';

/**
 * What is recorded at the end of a run, when all workers are stopped. What they finished before still counts; work that
 * was not verified yet is kept, and a resumed run verifies it.
 */
export function decideEnd(snapshot: Snapshot, end: FinishAction): ActionOf<'record'>[] {
  const settled = settleTasks(credible(snapshot)).filter((action) => action.kind === 'record');
  const ended = settled.map((action) => keptWork(snapshot.state, action) ?? asInterruption(action));
  const { state } = snapshot;
  // New tries that were asked for after the last turn: the next resume goes on with these tasks.
  return [...ended, ...stopped(state, end), ...gatesLost(state, end), ...giveNewTries(snapshot)];
}

/** Work whose verification came to no end is verified by the resumed run. */
function keptWork({ tasks }: RunState, { event }: ActionOf<'record'>): ActionOf<'record'> | undefined {
  const isLost = event.type === 'verification-lost' || (event.type === 'attempt-failed' && event.outcome === 'lost');
  if (!isLost) return undefined;
  const { task, attempt: number } = event;
  const attempt = tasks[task]?.attempts.find((one) => one.number === number);
  if (attempt === undefined || !hasWork(attempt)) return undefined;
  return record({ type: 'verification-lost', task, attempt: number, charge: 'nothing', cause: 'the run has ended' });
}

/** We have stopped the worker, so it has not died: its attempt is not charged to the task. */
function asInterruption(action: ActionOf<'record'>): ActionOf<'record'> {
  const { event } = action;
  if (event.type !== 'attempt-failed' || !['lost', 'interrupted', 'orphaned'].includes(event.outcome)) return action;
  return record({ ...event, outcome: 'interrupted', charge: 'nothing', detail: 'stopped before it was done' });
}

function stopped({ workers }: RunState, { status }: FinishAction): ActionOf<'record'>[] {
  const live = Object.entries(workers).filter(([, worker]) => isLive(worker));
  return live.map(([key]) => workerExited(Number(key), true, `the run is ${status}`));
}

function gatesLost({ levels }: RunState, { cause }: FinishAction): ActionOf<'record'>[] {
  return Object.entries(levels).flatMap(([level, { gateRun }]) =>
    gateRun === null ? [] : [record({ type: 'gates-lost', level: Number(level), attempt: gateRun.attempt, cause })],
  );
}
