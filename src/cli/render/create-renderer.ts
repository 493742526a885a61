import { tasksAt } from '../../tasks/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { jsonRenderer, plainRenderer } from './line-renderers.ts';
import type { RunListener } from '../../project/index.ts';

interface RendererWishes {
  readonly context: CliContext;
  readonly graph: TaskGraph;
  readonly json: boolean;
}

/** JSON for programs, a live tree for a terminal, lines for a log. */
export async function createRenderer({ context, graph, json }: RendererWishes): Promise<RunListener> {
  if (json) return jsonRenderer(context);
  if (!context.terminal || !fits(graph, process.stdout)) return plainRenderer(context);
  const { terminalRenderer } = await import('./terminal.ts');
  return terminalRenderer(context, graph);
}

const USUAL_ROWS = 24;

/**
 * A tree is drawn anew with every change, so it must fit on the screen: more rows cannot be redrawn, and thousands of rows
 * take longer than their tasks. In a terminal of no width every letter would have a line of its own.
 */
export function fits(
  graph: TaskGraph,
  { columns, rows }: { readonly columns?: number; readonly rows?: number },
): boolean {
  const most = Math.max(0, ...graph.levels.map((level) => tasksAt(graph, level).length));
  return columns !== 0 && graph.levels.length + most < (rows || USUAL_ROWS);
}
