import type { Config } from '../config/index.ts';
import type { RecordedEvent, RunState } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { BuildListener } from './build-images.ts';
import type { CredentialsLine } from './credentials-line.ts';
import type { ModeLine } from './decide-mode.ts';
import type { Host } from './image-request.ts';
import type { NetworkTally } from './network-tally.ts';
import type { WorkByWorker } from './work-now.ts';

export type HookName = Exclude<keyof Config['hooks'], 'timeout'>;

/** How a hook ended. */
export interface HookEnd {
  readonly hook: HookName;
  readonly feature: string;
  /** Null when it was killed. */
  readonly exit: number | null;
  /** What is wrong, in words; null when it ended well. */
  readonly problem: string | null;
  readonly ms: number;
}

export interface EndOfRun {
  readonly state: RunState;
  readonly network: NetworkTally | undefined;
}

/** Receives a run's events: a terminal draws them, a server passes them on. */
export interface RunListener {
  /** The state is that after the event; its lists of tasks, workers and levels go on changing. */
  event(this: void, event: RecordedEvent, state: RunState): void;
  /** A remark that is not an event of the run. */
  note(text: string): void;
  /** Comes after the last event; without an end when the run has failed with an error. */
  close(end: EndOfRun | undefined): Promise<void>;
}

/** The process that asks for a run. */
export interface RunHost extends Host {
  /** Asks for an end; the reason is the exit status. */
  readonly interrupted: AbortSignal;
  /** Registers work for an immediate end. */
  onForce(work: () => Promise<void>): void;
}

/** Receives what a run has to say: before it begins, and then through a listener. */
export interface RunFace {
  /** The mode, and what it does not protect from. Called twice when an image is built first. */
  mode(this: void, mode: ModeLine, unprotected: readonly string[]): void;
  /** Which way the credentials of the agent go, where that is a choice. */
  credentials(this: void, line: CredentialsLine): void;
  /** Receives the progress of a build that the run needs. */
  readonly build: BuildListener;
  /** The run is paused, and goes on by itself at this time. */
  waiting(this: void, until: Date): void;
  /** A hook has ended, after the run. */
  hook(this: void, end: HookEnd): void;
  /** The run begins. `look` asks what its workers do at the moment. */
  open(graph: TaskGraph, look: (state: RunState) => Promise<WorkByWorker>): Promise<RunListener>;
}
