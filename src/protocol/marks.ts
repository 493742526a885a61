/**
 * Environment variables that every process of a run inherits. By them a whole tree is found, also processes that have
 * left their group or lost their parents.
 */
export const MARKS = {
  run: 'MAHABHARATHA_RUN',
  /** One life of one worker. */
  session: 'MAHABHARATHA_SESSION',
  worker: 'MAHABHARATHA_WORKER',
  /** Not set for the worker itself: each command that it starts has a value of its own, with all descendants. */
  child: 'MAHABHARATHA_CHILD',
  /** Set for what a person runs in a worker's container: the id of the shell. */
  shell: 'MAHABHARATHA_SHELL',
  /** Set only for the sweeper: its run and the pid of its orchestrator. */
  sweeper: 'MAHABHARATHA_SWEEPER',
} as const;
