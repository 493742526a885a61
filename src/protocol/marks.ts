/**
 * Environment variables that every process of a run inherits. By them a whole tree is found again, also what has
 * left its process group or lost its parents.
 */
export const MARKS = {
  run: 'MAHABHARATHA_RUN',
  /** One life of one worker. */
  session: 'MAHABHARATHA_SESSION',
  worker: 'MAHABHARATHA_WORKER',
  /** Set for what a worker starts, not for the worker itself: one value for each command and all its descendants. */
  child: 'MAHABHARATHA_CHILD',
  /** Set for the sweeper alone: its run and the pid of its orchestrator. */
  sweeper: 'MAHABHARATHA_SWEEPER',
} as const;
