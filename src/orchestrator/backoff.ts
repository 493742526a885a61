import type { Clock } from '../lib/index.ts';
import type { RunState } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { Policy } from './plan.ts';

const FACTOR_MAX = 10;

/** Pure: how long a task waits after a rate limit; `before` is the number of rate limits in a row before it. */
export function backoffMs(policy: Pick<Policy, 'backoffMs'>, before: number): number {
  return policy.backoffMs * Math.min(2 ** before, FACTOR_MAX);
}

/**
 * How long tasks still have to wait. The state holds the end of a wait as wall time, for the next orchestrator. Here each
 * wait is measured by the monotonic clock and is never longer than its backoff, so that a wall clock that is set back does
 * not prolong it. A wall clock that is set forward may end it: after a suspend the time has really passed.
 */
export function createWaits(
  clock: Clock,
  policy: Pick<Policy, 'backoffMs'>,
  { tasks: all }: Pick<TaskGraph, 'tasks'>,
): (tasks: RunState['tasks']) => ReadonlyMap<string, number> {
  const dues = new Map<string, number>();
  return (tasks) => {
    const [now, wall] = [clock.monotonic(), clock.now()];
    const waits = new Map<string, number>();
    for (const { id } of all) {
      const { status, notBefore = null, backoffs = 0 } = tasks[id] ?? {};
      if (status !== 'pending' || notBefore === null) continue;
      const wait = `${id} ${notBefore}`;
      const latest = dues.get(wait) ?? now + backoffMs(policy, Math.max(0, backoffs - 1));
      const due = Math.min(latest, now + Date.parse(notBefore) - wall);
      dues.set(wait, due);
      if (due > now) waits.set(id, due - now);
    }
    return waits;
  };
}
