import type { Environment } from '../lib/index.ts';
import type { Workspace } from '../git/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { WorkerLog } from './log.ts';
import type { Reporter } from './reporter.ts';

/** Why a worker ends when nobody has asked it to. */
export const LEASE_LOST = 'the lease is lost';

/** What everything in a worker works with. */
export interface WorkerContext {
  readonly boot: Boot;
  /** Files that the orchestrator wants copied into the worktree. */
  readonly copies: string;
  readonly promptFile: string;
  readonly workspace: Workspace;
  readonly reporter: Reporter;
  readonly log: WorkerLog;
  /** For everything that is run for a task. */
  readonly env: Environment;
  /** Fires when the worker must end. */
  readonly stop: AbortSignal;
}
