import { DONE, openAttempt } from './plan.ts';
import type { ActionOf, Snapshot } from './plan.ts';

/** A worker for a single use is ended when it reports a result: nothing that its task has left running lives on. */
export function retireWorkers({ state, workers, policy }: Snapshot): ActionOf<'retire-worker'>[] {
  if (!policy.singleUse) return [];
  return [...workers].flatMap(([worker, view]) => {
    if (!view.alive || view.retired !== null) return [];
    const work = openAttempt(state, worker)?.name ?? state.workers[worker]?.task;
    const reported = view.claim?.attempt ?? view.result?.attempt;
    return reported !== undefined && reported === work
      ? [{ kind: 'retire-worker', worker, grace: false, cause: DONE }]
      : [];
  });
}
