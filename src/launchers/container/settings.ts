import type { CacheVolume, ContainersOptions, Egress, Identity } from '../../containers/index.ts';
import type { Mount } from '../../engines/index.ts';
import type { AgentAccess, Handover } from '../../protocol/index.ts';

/** How the containers of a run's workers are made, from the configuration; the same for all of them. */
export interface ContainerSettings extends Identity {
  /** What kind of owner the containers have. */
  readonly owner: 'run' | 'shell';
  /** What workers run in; it may be the repository's own. */
  readonly image: string;
  /** Root of the user's repository, for the labels. */
  readonly repo: string;
  readonly leaseMs: number;
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly tmpfsBytes: number;
  /** Worktree, git directory and outbox of one worker together. */
  readonly diskBytes: number;
  /** "none" with an egress proxy is the allowlist. */
  readonly network: 'none' | 'bridge';
  readonly egress: WorkerEgress | null;
  readonly mounts: readonly Mount[];
  readonly caches: readonly CacheVolume[];
  readonly runtime: string | null;
  /** Values in the workers' environment that must not be shown. */
  readonly secrets: Handover['secrets'];
  /** What each agent proves itself with, by its name: given for one attempt at a time. */
  readonly accesses: ReadonlyMap<string, AgentAccess>;
  /** Values that no worker gets, and that are not shown either. */
  readonly withheld: readonly string[];
}

export interface WorkerEgress extends Egress {
  /** The variables by which programs inside find the way out. */
  readonly env: Promise<Readonly<Record<string, string>>>;
}

export interface ContainerLauncherOptions extends Pick<ContainersOptions, 'engine' | 'startSweeper' | 'outageMs'> {
  readonly settings: ContainerSettings;
}

/** Values that must not be shown in the output of workers. */
export function secretsOf({
  secrets,
  accesses,
  withheld,
}: Pick<ContainerSettings, 'secrets' | 'accesses' | 'withheld'>): readonly string[] {
  return [...secrets, ...[...accesses.values()].flatMap((access) => access.secrets), ...withheld];
}
