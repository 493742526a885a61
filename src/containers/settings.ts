import type { Engine, Mount } from '../engines/index.ts';
import type { AgentAccess, Handover } from '../protocol/index.ts';
import type { Identity } from './identity.ts';

/** How the workers of a run are walled in; made from the configuration, the same for all of them. */
export interface ContainerSettings extends Identity {
  /** What workers run in; it may be the repository's own. */
  readonly image: string;
  /** Ours, by its id: what guards the workers runs in it, and nothing of the repository is in it. */
  readonly workerImage: string;
  /** Root of the user's repository: what is ours in the engine is labelled with it. */
  readonly repo: string;
  readonly memoryBytes: number;
  readonly cpus: number;
  readonly pids: number;
  readonly tmpfsBytes: number;
  /** Worktree, git directory and outbox of one worker together. */
  readonly diskBytes: number;
  /** "none" with an egress proxy is the allowlist. */
  readonly network: 'none' | 'bridge';
  readonly egress: Egress | null;
  readonly mounts: readonly Mount[];
  /** Shared caches: the name of the volume and what finds it there. */
  readonly caches: readonly CacheVolume[];
  readonly runtime: string | null;
  /** Values in the workers' environment that must not be shown. */
  readonly secrets: Handover['secrets'];
  /** What an agent proves itself with: given for one attempt at a time. */
  readonly access: AgentAccess;
}

/** The way out through a proxy. Containers are made meanwhile: who may be asked may take a moment to find out. */
export interface Egress {
  readonly program: Promise<EgressProgram>;
  /** What those inside must be told, so that they find it. */
  readonly env: Promise<Readonly<Record<string, string>>>;
}

/** What the egress proxy's container runs; nothing in it is secret. */
export interface EgressProgram {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
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
  readonly startSweeper: (runId: string) => { close(): void };
  /** How long an engine may be away before a run is given up. */
  readonly outageMs?: number;
}

/** All that must not be shown of what workers print. */
export function secretsOf({ secrets, access }: Pick<ContainerSettings, 'secrets' | 'access'>): readonly string[] {
  return [...secrets, ...access.secrets];
}
