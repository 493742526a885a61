import type { Environment } from '../lib/index.ts';

/** What a launcher can do. */
export interface LauncherCapabilities {
  /** Worker and host write to one object store: a commit of a worker is in the repository at once. */
  readonly sharesObjects: boolean;
  /** A worker does one assignment. What it reports is weighed when nothing of it is left. */
  readonly singleUse: boolean;
}

/** Folders that a worktree shows below what its worker changes, which is then all that `worktree` has. */
export interface WorktreeLayers {
  /** The id of the snapshot: one that a container uses is not removed. */
  readonly snapshot: string;
  /** From the top down. */
  readonly lower: readonly string[];
  /** For the kernel's own use. */
  readonly work: string;
}

export interface WorkerSpec {
  readonly runId: string;
  readonly feature: string;
  readonly worker: number;
  /** One life of one worker. */
  readonly session: string;
  readonly worktree: string;
  /** For a worker without a part in the repository: its own git directory, and the folders from which it reads objects. */
  readonly privateGit: { readonly gitDir: string; readonly objects: readonly string[] } | null;
  /** What the worktree begins with; null for an empty one. */
  readonly layers: WorktreeLayers | null;
  readonly inbox: string;
  readonly outbox: string;
  /** Read by all workers of the run. */
  readonly shared: string;
  /** The file to which the worker's output is appended. */
  readonly log: string;
  readonly env: Environment;
}

/** Plain data by which a worker is found again, also from another process after a crash. */
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
  /** The limit of its own that ended it, in words, with the figures. */
  readonly overLimit?: string;
}

/**
 * Workers that were started before they are needed: each waits, with folders of its own, until it is taken as the next
 * worker of its number. Nothing but our own program has run in it by then.
 */
export interface Spares {
  /** Starts one: the worker that `spec` describes, in the folders of `now`. Rejects when it cannot; then nothing is left. */
  make(spec: WorkerSpec, now: WorkerSpec): Promise<Spare>;
  /** Removes those that another process has left. */
  sweep(runId: string): Promise<void>;
}

export interface Spare {
  /** Resolves when it is gone, however that came. */
  readonly gone: Promise<void>;
  /**
   * Makes it the worker that was described, in whose place its folders are by now. Undefined when this is another one than
   * `spec`, or it is gone: then nothing of it is left.
   */
  take(spec: WorkerSpec): Promise<WorkerHandle | undefined>;
  /** Resolves when nothing of it is left. */
  remove(): Promise<void>;
}

/** Starts workers, and knows when they end. To stop or recover a worker that is gone is no error. */
export interface Launcher {
  readonly name: string;
  readonly capabilities: LauncherCapabilities;
  start(spec: WorkerSpec): Promise<WorkerHandle>;
  /** Null where a start costs little. */
  readonly spares: Spares | null;
  /** Whether it is still the worker that was started, and running. If so, its end is watched from now on. */
  recover(handle: WorkerHandle): Promise<boolean>;
  /** Resolves when the worker is gone, with everything it started; rejects with ENGINE_UNREACHABLE when that cannot be known. */
  wait(handle: WorkerHandle): Promise<WorkerExit>;
  /**
   * Whether it can be given an attempt that asks an agent. In containers false for a worker that another process has
   * started, whose stdin has ended; elsewhere true, because workers have their user's credentials.
   */
  takesCredentials(handle: WorkerHandle): boolean;
  /** Gives it what the agent of this attempt, and of no other, proves itself with. `agent` is its name. */
  giveCredentials(handle: WorkerHandle, attempt: string, agent: string): void;
  /** SIGTERM; SIGKILL after the grace. Resolves when nothing of it is left. */
  stop(handle: WorkerHandle, options: { graceMs: number }): Promise<WorkerExit>;
  /** The last lines that the worker printed. */
  logs(handle: WorkerHandle, lines: number): Promise<string[]>;
  /** Every live worker of a run, also those without a handle. */
  list(runId: string): Promise<WorkerHandle[]>;
  /** Kills what is left of a run that has no orchestrator. Returns how many processes or containers went. */
  sweep(runId: string): Promise<number>;
}
