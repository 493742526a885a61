import type { WorkerHandle } from '../launchers/index.ts';
import type { RunEvent, RunState } from '../state/index.ts';
import { gateAttemptId } from './plan.ts';
import type { ActionOf, EventOf } from './plan.ts';

/** What is known only when a worker is started, and is in no decision. */
type NewSession = Pick<EventOf<'worker-starting'>, 'session' | 'mode' | 'branch' | 'worktree'>;

export function workerStarted(handle: WorkerHandle): RunEvent {
  const { worker, session, pid, containerId } = handle;
  return { type: 'worker-started', worker, session, pid, containerId, handle: { ...handle } };
}

/** Pure: the event that an action is recorded as. What merges lead to is in `decide-merge.ts`. */
export const eventOf = {
  'start-worker': ({ worker, cause }: ActionOf<'start-worker'>, begun: NewSession): RunEvent => {
    return { type: 'worker-starting', worker, ...begun, cause };
  },
  'kill-worker': ({ worker, cause }: ActionOf<'kill-worker'>): RunEvent => {
    return { type: 'worker-exited', worker, expected: false, cause };
  },
  assign: ({ task, number: attempt, worker, base, cause }: ActionOf<'assign'>): RunEvent => {
    return { type: 'attempt-started', task, attempt, worker, base, cause };
  },
  verify: ({ task, number: attempt, worker, commit, cause }: ActionOf<'verify'>): RunEvent => {
    return { type: 'verification-started', task, attempt, worker, commit, cause };
  },
  'run-gates': (action: ActionOf<'run-gates'>, { levels }: RunState): EventOf<'gates-started'> => {
    const { level, worker, commit, count, cause } = action;
    const attempt = gateAttemptId(level, (levels[level]?.gateRuns ?? 0) + 1);
    return { type: 'gates-started', level, attempt, worker, commit, count, cause };
  },
  publish: ({ level, tip }: ActionOf<'publish'>, { levels }: RunState): RunEvent => {
    return { type: 'level-published', level, tip, tasks: levels[level]?.trial?.tasks ?? [] };
  },
  finish: ({ status, exit, cause, resumeAt }: ActionOf<'finish'>, { cost }: RunState): RunEvent => {
    return { type: 'run-finished', status, exit, cause, resumeAt, cost };
  },
};
