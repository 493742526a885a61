import { openAttempt } from './plan.ts';
import type { ActionOf, Snapshot, WorkerView } from './plan.ts';

/**
 * The first result that a worker reports for its own attempt is examined, and its commit taken into the repository.
 * Results for other attempts are ignored.
 */
export function takeResults({ state, workers }: Pick<Snapshot, 'state' | 'workers'>): ActionOf<'take-result'>[] {
  return [...workers].flatMap(([worker, { claim }]) => {
    const open = openAttempt(state, worker);
    if (claim === null || open === undefined || claim.attempt !== open.name) return [];
    const cause = `its worker says "${claim.outcome}"`;
    return [{ kind: 'take-result', worker, result: claim, base: open.base, cause }];
  });
}

/**
 * Until a reported result is examined, its worker does not count as dead, silent or overdue: the attempt would count as
 * lost.
 */
export function underExamination(view: WorkerView): WorkerView {
  return {
    ...view,
    alive: true,
    exit: null,
    overLimit: false,
    lastWords: [],
    phase: null,
    attempt: null,
    setupFailure: null,
    trouble: null,
    takesCredentials: false,
    silentMs: 0,
    result: null,
    unreadable: null,
  };
}
