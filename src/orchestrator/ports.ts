import type { Repository } from '../git/index.ts';
import type { Clock, Environment } from '../lib/index.ts';
import type { Launcher } from '../launchers/index.ts';
import type { Mail } from '../mail/index.ts';
import type { AgentSpec, Prices } from '../protocol/index.ts';
import type { Snapshots } from '../snapshots/index.ts';
import type { RecordedEvent, RunState, StateStore } from '../state/index.ts';
import type { Task, TaskGraph } from '../tasks/index.ts';
import type { Policy, StopRequest } from './plan.ts';

/** What a run needs of the outside world. `project/wire.ts` makes it; tests make their own. */
export interface Ports {
  readonly clock: Clock;
  readonly repository: Repository;
  readonly store: StateStore;
  readonly launcher: Launcher;
  readonly mail: Mail;
  /** Of spares: it becomes that of the worker with the folders. */
  readonly spareMail: Pick<Mail, 'open' | 'brief'>;
  readonly snapshots: Snapshots;
  /** Calls `onChange` soon after a request was written. */
  readonly watch: (folder: string, onChange: () => void) => { close(): void };
  readonly emit: (event: RecordedEvent, state: RunState) => void;
  /** Memory that the machine has left for programs, in bytes. */
  readonly freeMemory: () => number;
  /** Why neither the run nor its workers can write; undefined while there is room on the disk. */
  readonly lackOfRoom: () => Promise<string | undefined>;
}

/** The times and limits of a run. */
export interface RunOptions {
  readonly policy: Policy;
  /** Who does a task without a command of its own. */
  readonly agentFor: (task: Task) => AgentSpec;
  /** The user's own prices of models. */
  readonly prices: Prices;
  readonly limits: { readonly totalMs: number; readonly idleMs: number; readonly completionMs: number };
  readonly leaseMs: number;
  readonly setup: { readonly command: string; readonly timeoutMs: number } | null;
  /** Files copied into each worktree, relative to the root of the repository. */
  readonly copies: readonly string[];
  /** How long this process may drive the run; without end when null. */
  readonly deadlineMs: number | null;
  /** How much of that is over. */
  readonly spentMs: number;
  /** What workers inherit. */
  readonly env: Environment;
  /** Largest bundle that is taken from a worker. */
  readonly bundleBytes: number;
  /** Largest checkout of a commit of the run. */
  readonly checkoutBytes: number;
  /** Takes secrets out of texts of workers. */
  readonly redact: (text: string) => string;
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number;
  /** Asks the run to end; its reason is a StopRequest. */
  readonly stop: AbortSignal;
}

export interface RunContext {
  readonly ports: Ports;
  readonly options: RunOptions;
  readonly graph: TaskGraph;
}

export function stopRequestOf(signal: AbortSignal): StopRequest | null {
  if (!signal.aborted) return null;
  const reason: unknown = signal.reason;
  if (typeof reason === 'object' && reason !== null && 'exit' in reason) return reason as StopRequest;
  return { status: 'stopped', exit: 1, cause: 'stopped' };
}
