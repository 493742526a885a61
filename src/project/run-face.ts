import type { RecordedEvent, RunState } from '../state/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { BuildListener } from './build-images.ts';
import type { ModeLine } from './decide-mode.ts';
import type { Host } from './image-request.ts';
import type { NetworkTally } from './network-tally.ts';

export interface EndOfRun {
  readonly state: RunState;
  readonly network: NetworkTally | undefined;
}

/** Hears a run while it goes on: a terminal draws it, a server passes it on. */
export interface RunListener {
  event(this: void, event: RecordedEvent): void;
  /** Something worth knowing that is not an event of the run. */
  note(text: string): void;
  /** After the last event; without an end when the run did not come about. */
  close(end: EndOfRun | undefined): Promise<void>;
}

/** What a run is asked from, and asked to end by. */
export interface RunHost extends Host {
  /** Asks for an end; the reason is the exit status. */
  readonly interrupted: AbortSignal;
  /** What is to be done when the end must come quickly. */
  onForce(work: () => Promise<void>): void;
}

/** Where a run is heard: what it says before it begins, and who hears it then. */
export interface RunFace {
  /** What workers will run in, and what does not protect from them. May come twice; the first time counts. */
  mode(this: void, mode: ModeLine, unprotected: readonly string[]): void;
  /** Hears a build that the run needs first. */
  readonly build: BuildListener;
  /** The run begins. */
  open(graph: TaskGraph): Promise<RunListener>;
}
