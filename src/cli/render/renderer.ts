import type { RecordedEvent, RunState } from '../../state/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { jsonRenderer } from './json.ts';
import { plainRenderer } from './plain.ts';

/** Draws a run while it goes on. The core knows nothing of it. */
export interface Renderer {
  event(this: void, event: RecordedEvent): void;
  /** Something worth knowing that is not an event of the run. */
  note(text: string): void;
  /** After the last event; without a state when the run did not come about. */
  close(state: RunState | undefined): Promise<void>;
}

interface RendererWishes {
  readonly context: CliContext;
  readonly graph: TaskGraph;
  readonly json: boolean;
}

/** Chosen once: for programs, for a person at a terminal, for a log. */
export async function createRenderer({ context, graph, json }: RendererWishes): Promise<Renderer> {
  if (json) return jsonRenderer(context);
  if (!context.terminal) return plainRenderer(context);
  const { terminalRenderer } = await import('./terminal.ts');
  return terminalRenderer(context, graph);
}
