import type { Engine, Mount } from '../../engines/index.ts';
import type { Handover } from '../../protocol/index.ts';

/** How the workers of a run are walled in; made from the configuration, the same for all of them. */
export interface ContainerSettings {
  readonly image: string;
  /** Root of the user's repository: what is ours in the engine is labelled with it. */
  readonly repo: string;
  readonly uid: number;
  readonly gid: number;
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly tmpfsBytes: number;
  /** Worktree, git directory and outbox of one worker together. */
  readonly diskBytes: number;
  readonly network: 'none' | 'allowlist' | 'open';
  /** The rules of the egress proxy, in its own format; nothing secret. */
  readonly egressRules: string;
  readonly mounts: readonly Mount[];
  /** Shared caches: the name of the volume and what finds it there. */
  readonly caches: readonly CacheVolume[];
  readonly runtime: string | null;
  readonly leaseMs: number;
  readonly handover: Pick<Handover, 'agent' | 'secrets'>;
}

export interface CacheVolume {
  readonly volume: string;
  readonly target: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ContainerLauncherOptions {
  readonly engine: Engine;
  readonly settings: ContainerSettings;
  /** Starts the process that clears away what is left when the orchestrator is killed. */
  readonly startSweeper: (run: { runId: string; lease: string }) => { close(): void };
}
