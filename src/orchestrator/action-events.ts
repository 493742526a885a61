import type { RunEvent, RunState } from '../state/index.ts';
import { gateAttemptId } from './decide-level.ts';
import type { ActionOf } from './plan.ts';

/** What the executor knows of a worker that it starts, and no decision says. */
export interface NewSession {
  readonly session: string;
  readonly mode: string;
  readonly branch: string;
  readonly worktree: string;
}

type EventOf<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** Pure: the event that an action is recorded as. What merges lead to is in `decide-merge.ts`. */
export const eventOf = {
  'start-worker': ({ worker, cause }: ActionOf<'start-worker'>, begun: NewSession): RunEvent => ({
    type: 'worker-starting',
    worker,
    ...begun,
    cause,
  }),
  'kill-worker': ({ worker, cause }: ActionOf<'kill-worker'>): RunEvent => ({
    type: 'worker-exited',
    worker,
    expected: false,
    cause,
  }),
  assign: ({ task, number, worker, base, cause }: ActionOf<'assign'>): RunEvent => ({
    type: 'attempt-started',
    task,
    attempt: number,
    worker,
    base,
    cause,
  }),
  'run-gates': (
    { level, worker, commit, count, cause }: ActionOf<'run-gates'>,
    { levels }: RunState,
  ): EventOf<'gates-started'> => ({
    type: 'gates-started',
    level,
    attempt: gateAttemptId(level, (levels[level]?.gateRuns ?? 0) + 1),
    worker,
    commit,
    count,
    cause,
  }),
  publish: ({ level, tip }: ActionOf<'publish'>, { levels }: RunState): RunEvent => ({
    type: 'level-published',
    level,
    tip,
    tasks: levels[level]?.trial?.tasks ?? [],
  }),
  finish: ({ status, exit, cause, resumeAt }: ActionOf<'finish'>): RunEvent => ({
    type: 'run-finished',
    status,
    exit,
    cause,
    resumeAt,
  }),
};
