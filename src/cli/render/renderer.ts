import type { RecordedEvent, RunState } from '../../state/index.ts';

/** Draws a run while it goes on. The core knows nothing of it. */
export interface Renderer {
  event(this: void, event: RecordedEvent): void;
  /** Something worth knowing that is not an event of the run. */
  note(text: string): void;
  /** After the last event; without a state when the run did not come about. */
  close(state: RunState | undefined): Promise<void>;
}
