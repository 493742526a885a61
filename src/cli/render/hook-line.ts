import { inSeconds, line, printableJson } from '../../lib/index.ts';
import type { RunFace } from '../../project/index.ts';
import type { CliContext } from '../command.ts';

/** Says how a hook has ended. */
export function hookTeller({ out, err }: Pick<CliContext, 'out' | 'err'>, json: boolean): RunFace['hook'] {
  return ({ hook, feature, exit, problem, ms }) => {
    if (json)
      out(line`${printableJson({ at: new Date().toISOString(), type: 'hook', hook, feature, exit, problem, ms })}\n`);
    else if (problem === null) out(line`  hook     ${hook} is done, after ${inSeconds(ms)}\n`);
    else err(line`warning: hook ${hook}: ${problem}; see: mahabharatha logs --feature ${feature}\n`);
  };
}
