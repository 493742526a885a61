import type { CliContext } from '../command.ts';
import type { Renderer } from './renderer.ts';

/** One JSON object per line on stdout: each event, as it stands in the event log. */
export function jsonRenderer(context: CliContext): Renderer {
  const line = (value: unknown): void => context.out(`${JSON.stringify(value)}\n`);
  return {
    event: line,
    note: (text) => line({ at: new Date().toISOString(), type: 'note', text }),
    close: async (end) => {
      if (end?.network === undefined) return;
      const { refused, unreached } = end.network;
      const at = new Date().toISOString();
      if (refused.total > 0) line({ at, type: 'refusals', ...refused });
      if (unreached.total > 0) line({ at, type: 'unreached', ...unreached });
    },
  };
}
