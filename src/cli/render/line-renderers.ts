import { line, printableJson } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { describe } from './describe.ts';
import { colorsFor } from './colors.ts';
import type { RunListener } from '../../project/index.ts';
import { formatSummary } from './summary.ts';

const SIGN = { good: '✓', bad: '✗', plain: '·', quiet: ' ' } as const;

/** One line per event, for logs and pipes. */
export function plainRenderer(context: CliContext, graph: TaskGraph): RunListener {
  const colors = colorsFor(context.color);
  const paint = { good: colors.green, bad: colors.red, plain: (text: Printable) => text, quiet: colors.dim };
  return {
    event: (event) => {
      if (event.type === 'attempt-spent' || (event.type === 'worker-phase' && event.phase !== 'setup')) return;
      const { kind, text } = describe(event);
      context.out(line`${event.at.slice(11, 19)} ${paint[kind](line`${SIGN[kind]} ${text}`)}\n`);
    },
    note: (text) => context.err(line`note: ${text}\n`),
    close: async (end) => {
      if (end !== undefined) context.out(line`\n${formatSummary(end, graph)}`);
    },
  };
}

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
