import type { Workspace } from '../git/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { WorkerLog } from './log.ts';
import type { Reporter } from './reporter.ts';
import type { Surroundings } from './surroundings.ts';

/** Why a worker ends without being asked to. */
export const LEASE_LOST = 'the lease is lost';

/** What everything in a worker works with. */
export interface WorkerContext extends Surroundings {
  readonly boot: Boot;
  /** Where files may be that the orchestrator wants copied into the worktree; the first that is there counts. */
  readonly copies: readonly string[];
  readonly promptFile: string;
  readonly workspace: Workspace;
  readonly reporter: Reporter;
  readonly log: WorkerLog;
  /** Where a commit is put for the host to fetch; null when both have one object store. */
  readonly bundle: string | null;
  /** Fires when the worker must end. */
  readonly stop: AbortSignal;
}
