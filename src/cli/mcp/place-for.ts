import type { McpSettings } from '../../config/index.ts';
import { isOfThisMachine } from '../../guard/index.ts';
import { libErrors, line } from '../../lib/index.ts';
import { openProcesses } from '../../mcp/index.ts';
import type { Place } from '../../mcp/index.ts';
import type { CliContext } from '../command.ts';
import { containerPlace } from './container-place.ts';

interface Listening {
  readonly http: boolean;
  readonly host: string | undefined;
}

/** Where EXECUTION_MODE has code run. Throws USAGE. */
export function placeFor(input: Listening, settings: McpSettings, context: CliContext): Place {
  const { env, err } = context;
  const mode = env['EXECUTION_MODE'] || 'preload';
  if (mode === 'container') return containerPlace(settings, context);
  if (mode !== 'preload')
    throw libErrors.USAGE({
      problem: `There is no execution mode "${mode}".`,
      hint: 'Set EXECUTION_MODE to "container" or "preload"; without it, it is "preload".',
    });
  if (input.http && !isOfThisMachine(input.host ?? 'localhost'))
    throw libErrors.USAGE({
      problem: 'Preload mode is too weak for the code of other machines.',
      hint: 'Set EXECUTION_MODE=container, or leave out --host.',
    });
  err(line`Code runs in preload mode, a weak sandbox on this machine. EXECUTION_MODE=container is a strong one.\n`);
  return { mode, prepare: async () => ({ from: '', open: (closing) => openProcesses(settings, env, closing) }) };
}
