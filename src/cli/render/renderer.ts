import type { RecordedEvent, RunState } from '../../state/index.ts';
import type { NetworkTally } from '../../project/index.ts';

export interface RenderedEnd {
  readonly state: RunState;
  readonly network: NetworkTally | undefined;
}

/** Draws a run while it goes on. The core knows nothing of it. */
export interface Renderer {
  event(this: void, event: RecordedEvent): void;
  /** Something worth knowing that is not an event of the run. */
  note(text: string): void;
  /** After the last event; without an end when the run did not come about. */
  close(end: RenderedEnd | undefined): Promise<void>;
}
