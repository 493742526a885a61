import { line } from '../../lib/index.ts';
import type { RunFace } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { plainView } from '../render/build-view.ts';
import { describe } from '../render/describe.ts';
import { credentialsText, modeTeller } from '../render/mode-line.ts';

/** What a person wants to hear of an agent that plans; the rest is about runs. */
const TOLD: ReadonlySet<string> = new Set([
  'attempt-started',
  'attempt-failed',
  'worker-trouble',
  'worker-recovered',
  'warning',
]);

/** A run whose only task is a question to an agent: what is to be known of it goes to stderr. */
export function planFace(context: CliContext): RunFace {
  const onErr = { ...context, out: context.err };
  return {
    mode: modeTeller(onErr, false),
    credentials: (way) => context.err(credentialsText(way, false)),
    build: plainView({ ...onErr, terminal: false }),
    waiting: () => undefined,
    hook: () => undefined,
    open: async () => ({
      event: (event) => {
        if (TOLD.has(event.type)) context.err(line`${describe(event).text}\n`);
      },
      note: () => undefined,
      close: async (end) => {
        const refused = end?.network?.refused.total ?? 0;
        if (refused > 0) context.err(line`The agent was refused ${refused} requests to hosts that are not allowed.\n`);
      },
    }),
  };
}
