import { findProgram, hasCode, reasonOf } from '../../lib/index.ts';
import type { Environment } from '../../lib/index.ts';
import { engineErrors } from '../errors.ts';
import { greetApple } from './apple-engine.ts';

/** The program may hang; people wait for the search. */
const PROBE = { quickMs: 10_000, slowMs: 10_000, longMs: 10_000 };
/** Where its installer puts it, when PATH does not say. */
const USUAL_PLACES = ['/usr/local/bin', '/opt/homebrew/bin'];

export interface AppleFinding {
  /** Undefined when it cannot be used. */
  readonly program: string | undefined;
  /** What was found, for `doctor`. */
  readonly line: string;
  /** The program is there, and does not answer. */
  readonly isSilent: boolean;
}

export async function findApple(env: Environment): Promise<AppleFinding> {
  const PATH = [env['PATH'] ?? '', ...USUAL_PLACES].join(':');
  const program = await findProgram('container', { PATH });
  if (program === undefined)
    return { program, line: 'Apple container: there is no program "container"', isSilent: false };
  try {
    const engine = await greetApple(program, env, PROBE);
    return { program, line: `Apple container: ${program}: ${engine}`, isSilent: false };
  } catch (error) {
    const reason = hasCode(error, engineErrors.ENGINE_UNREACHABLE) ? error.facts.tried.join('; ') : reasonOf(error);
    return { program: undefined, line: `Apple container: ${reason}`, isSilent: true };
  }
}
