import { openAttempt } from './plan.ts';
import type { ActionOf, Snapshot, WorkerView } from './plan.ts';

/**
 * A worker's first word on the attempt that it was given is examined, and its commit taken into the repository. What it
 * says of any other attempt is not for it to say.
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
 * A worker that has said how its work ended is not called dead, silent or overdue before that is examined: its attempt
 * would count as lost.
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
