import { clip } from '../lib/text/words.ts';
import { isVerification, openAttempt } from './plan.ts';
import type { ActionOf, Snapshot } from './plan.ts';

/**
 * The first result that a worker reports for its own attempt is examined, and its commit taken into the repository.
 * Results for other attempts are ignored.
 */
export function takeResults({ state, workers }: Pick<Snapshot, 'state' | 'workers'>): ActionOf<'take-result'>[] {
  return [...workers].flatMap(([worker, { claim }]) => {
    const open = openAttempt(state, worker);
    if (claim === null || open === undefined || claim.attempt !== open.name || isVerification(open.name)) return [];
    const cause = `its worker says "${claim.outcome}"`;
    return [{ kind: 'take-result', worker, result: claim, base: open.base, cause }];
  });
}

/** Why a reported commit cannot be used whose bundle has brought another one, or did not come. */
export function faultOfBundle(tip: string | undefined): string {
  if (tip === undefined) return 'came without the bundle that it should be in';
  return `is not what its bundle brought, which is ${tip.slice(0, 12)}`;
}

interface Judged {
  readonly parents: readonly string[];
  readonly tooLong: readonly string[];
}

/** Why it cannot be used, judged by what the repository says of it; that is undefined when there is no such commit. Null when it can. */
export function faultOfCommit(base: string, facts: Judged | undefined): string | null {
  const isOnTop = facts?.parents.length === 1 && facts.parents[0] === base;
  if (!isOnTop) return `is not one commit on top of ${base.slice(0, 12)}`;
  const [path] = facts.tooLong;
  return path === undefined ? null : `cannot be checked out: too long for a file system: ${clip(path, 80)}`;
}
