import type { Environment } from '../lib/index.ts';

/** What a launcher can and cannot do; asked, never guessed from its name. */
export interface LauncherCapabilities {
  /** Worker and host write to one object store, so a commit made inside is at hand outside. */
  readonly sharesObjects: boolean;
}

export interface WorkerSpec {
  readonly runId: string;
  readonly feature: string;
  readonly worker: number;
  /** One life of one worker. */
  readonly session: string;
  readonly worktree: string;
  /** When the worker has no part in the repository: a git directory of its own, and where objects are read from. */
  readonly privateGit: { readonly gitDir: string; readonly objects: readonly string[] } | null;
  readonly inbox: string;
  readonly outbox: string;
  /** Read by all workers of the run. */
  readonly shared: string;
  /** Takes what the worker prints; appended to. */
  readonly log: string;
  readonly env: Environment;
}

/** Plain data that finds the worker again, also from another process after a crash. */
export interface WorkerHandle {
  readonly launcher: string;
  readonly runId: string;
  readonly worker: number;
  readonly session: string;
  readonly pid: number | null;
  readonly containerId: string | null;
  /** The launcher's own facts. */
  readonly facts: Readonly<Record<string, string | number>>;
}

/** How a worker ended. Code and signal are null when it could not be seen. */
export interface WorkerExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The limit of its own that ended it, in words: what it did wrong, and how much of it. */
  readonly overLimit?: string;
}

/** Starts workers and keeps hold of them. Stopping and recovering something that is gone is not an error. */
export interface Launcher {
  readonly name: string;
  readonly capabilities: LauncherCapabilities;
  start(spec: WorkerSpec): Promise<WorkerHandle>;
  /** Is it still the worker that was started, and running? Takes hold of it again if so. */
  recover(handle: WorkerHandle): Promise<boolean>;
  /** Resolves when the worker is gone, with everything it started; rejects with ENGINE_UNREACHABLE when that cannot be known. */
  wait(handle: WorkerHandle): Promise<WorkerExit>;
  /**
   * May it be given an attempt that asks an agent? Not one that another process has started: its stdin has ended. Always,
   * where workers have what their user has.
   */
  takesCredentials(handle: WorkerHandle): boolean;
  /** Gives it what the agent of this attempt, and of no other, proves itself with. */
  giveCredentials(handle: WorkerHandle, attempt: string): void;
  /** SIGTERM; what is left after the grace is killed; then nothing of it is left. */
  stop(handle: WorkerHandle, options: { graceMs: number }): Promise<WorkerExit>;
  /** The last lines that the worker printed. */
  logs(handle: WorkerHandle, lines: number): Promise<string[]>;
  /** Every live worker of a run, also those without a handle. */
  list(runId: string): Promise<WorkerHandle[]>;
  /** Kills what is left of a run that has no orchestrator. Returns how many processes or containers went. */
  sweep(runId: string): Promise<number>;
}
