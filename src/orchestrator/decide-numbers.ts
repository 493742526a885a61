import { taskOf } from '../tasks/index.ts';
import { DONE, isLive, isVerification, openAttempt, taskOfAttempt } from './plan.ts';
import type { Policy, Snapshot } from './plan.ts';
import { asksAgent } from './survey.ts';

type Numbered = Pick<Snapshot, 'state'> & { readonly policy: Pick<Policy, 'singleUse'> };

/** All numbers that workers may have: two at each place where they are for a single use, else one. */
export function numbersOf({ state, policy }: Numbered): number[] {
  return Array.from({ length: state.settings.workers * (policy.singleUse ? 2 : 1) }, (_, number) => number);
}

/** The other number of the same place; undefined where a place has one. */
export function twinOf({ state, policy }: Numbered, number: number): number | undefined {
  const { workers: places } = state.settings;
  if (!policy.singleUse || number >= places * 2) return undefined;
  return number < places ? number + places : number - places;
}

/** Whether a worker of this number would be the only one at work in its place, and there before any other. */
export function isPlaceFree(snapshot: Snapshot, number: number, taken: ReadonlySet<number>): boolean {
  const twin = twinOf(snapshot, number);
  // There are no spares either.
  if (twin === undefined) return true;
  // A spare that is being made is there sooner than a worker that is started now.
  const isBeingMade = [number, twin].some((each) => snapshot.spares?.held.get(each) === 'making');
  if (isBeingMade || taken.has(twin)) return false;
  const other = snapshot.state.workers[twin];
  return other === undefined || !isLive(other) || isLeaving(snapshot, twin);
}

/**
 * It has done its assignment, and nothing that is weighed later keeps its place: neither a verification, which comes before
 * new work, nor what an agent has cost.
 */
function isLeaving({ state, graph, policy, workers }: Snapshot, worker: number): boolean {
  if (workers.get(worker)?.retired !== DONE) return false;
  const open = openAttempt(state, worker)?.name;
  if (open === undefined || isVerification(open)) return true;
  const task = taskOfAttempt(open);
  const isVerified = policy.verifyAfresh && taskOf(graph, task)?.verification != null;
  return !isVerified && !asksAgent({ state, graph }, task);
}
