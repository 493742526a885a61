import type { Environment } from '../lib/index.ts';
import type { Workspace } from '../git/index.ts';
import type { Boot } from '../protocol/index.ts';
import type { AgentHome } from './agent-home.ts';
import type { CredentialsInbox } from './credentials-inbox.ts';
import type { WorkerLog } from './log.ts';
import type { Reporter } from './reporter.ts';

/** Why a worker ends without being asked to. */
export const LEASE_LOST = 'the lease is lost';

/** What everything in a worker works with. */
export interface WorkerContext {
  readonly boot: Boot;
  /** Where files may be that the orchestrator wants copied into the worktree; the first that is there counts. */
  readonly copies: readonly string[];
  readonly promptFile: string;
  readonly workspace: Workspace;
  readonly reporter: Reporter;
  readonly log: WorkerLog;
  /** For everything that is run for a task. */
  readonly env: Environment;
  /** For the agent alone; there is none where the worker has the rights and the logins of its user. */
  readonly agentHome: AgentHome | undefined;
  /** What the agent proves itself with, for one attempt at a time; undefined as its home is. */
  readonly credentials: CredentialsInbox | undefined;
  /** Folders of a worker's own container where tasks leave what they like; emptied after one that failed. */
  readonly scratch: readonly string[];
  /** Where a commit is put for the host to fetch; null when both have one object store. */
  readonly bundle: string | null;
  /** Fires when the worker must end. */
  readonly stop: AbortSignal;
}
