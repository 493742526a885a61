import type { RunFace } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { jsonRenderer, plainRenderer } from './line-renderers.ts';
import { liveRenderer } from './live-renderer.ts';

/** JSON for programs, a live view for a terminal, lines for a log. */
export function createRenderer(context: CliContext, json: boolean): RunFace['open'] {
  return async (graph, look) => {
    if (json) return jsonRenderer(context);
    const { screen } = context;
    return screen === undefined ? plainRenderer(context, graph) : liveRenderer(context, { graph, screen, look });
  };
}
