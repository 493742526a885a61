import { line, printableJson } from '../../lib/index.ts';
import type { CliContext } from '../command.ts';
import type { RunListener } from '../../project/index.ts';

/** One JSON object per line on stdout: each event, as it stands in the event log. */
export function jsonRenderer(context: CliContext): RunListener {
  const say = (value: unknown): void => context.out(line`${printableJson(value)}\n`);
  return {
    event: say,
    note: (text) => say({ at: new Date().toISOString(), type: 'note', text }),
    close: async (end) => {
      if (end?.network === undefined) return;
      const { refused, unreached } = end.network;
      const at = new Date().toISOString();
      if (refused.total > 0) say({ at, type: 'refusals', ...refused });
      if (unreached.total > 0) say({ at, type: 'unreached', ...unreached });
    },
  };
}
