import type { Workspace } from '../git/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { WorkerLog } from './log.ts';
import type { Reporter } from './reporter.ts';
import type { Surroundings } from './surroundings.ts';

/** Why a worker ends without being asked to. */
export const LEASE_LOST = 'the lease is lost';

/** The parts of a worker. */
export interface WorkerContext extends Surroundings {
  readonly boot: Boot;
  /** Folders with files to be copied into the worktree; the first one that exists counts. */
  readonly copies: readonly string[];
  readonly promptFile: string;
  /** A folder for what the set-up has made and tasks may change. */
  readonly setupCopies: string;
  readonly workspace: Workspace;
  readonly reporter: Reporter;
  readonly log: WorkerLog;
  /** The bundle in which the host fetches a commit; null when worker and host have one object store. */
  readonly bundle: string | null;
  /** Fires when the worker must end. */
  readonly stop: AbortSignal;
}
