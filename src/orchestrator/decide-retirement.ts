import { DONE, openAttempt } from './plan.ts';
import type { ActionOf, Snapshot, WorkerView } from './plan.ts';

/** A worker for a single use is ended when it reports a result: nothing that its task has left running lives on. */
export function retireWorkers({ state, workers, policy }: Snapshot): ActionOf<'retire-worker'>[] {
  if (!policy.singleUse) return [];
  return [...workers].flatMap(([worker, view]) => {
    if (!view.alive || view.retired || !hasReported(view)) return [];
    const work = openAttempt(state, worker)?.name ?? state.workers[worker]?.task;
    const reported = view.claim?.attempt ?? view.result?.attempt;
    return reported === work ? [{ kind: 'retire-worker', worker, cause: DONE }] : [];
  });
}

const hasReported = ({ claim, result }: WorkerView): boolean => claim !== null || result !== null;
