import type { TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { jsonRenderer } from './json.ts';
import { plainRenderer } from './plain.ts';
import type { Renderer } from './renderer.ts';

interface RendererWishes {
  readonly context: CliContext;
  readonly graph: TaskGraph;
  readonly json: boolean;
}

/** Chosen once: for programs, for a person at a terminal, for a log. */
export async function createRenderer({ context, graph, json }: RendererWishes): Promise<Renderer> {
  if (json) return jsonRenderer(context);
  // In a terminal of no width a tree would be drawn one letter below the other.
  if (!context.terminal || process.stdout.columns === 0) return plainRenderer(context);
  const { terminalRenderer } = await import('./terminal.ts');
  return terminalRenderer(context, graph);
}
