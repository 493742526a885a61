import { parseDuration } from '../../config/index.ts';
import { libErrors } from '../../lib/index.ts';
import type { AppError } from '../../lib/index.ts';
import type { RunWishes } from '../../project/index.ts';
import { textOf } from '../command.ts';
import type { CommandInput } from '../command.ts';

/** What was asked of `kurukshetra`. */
interface Wishes extends RunWishes {
  readonly dryRun: boolean;
  readonly trustConfig: boolean;
  readonly json: boolean;
}

/** What the command line says, as far as it can be right. */
export function readWishes(input: CommandInput): Wishes {
  const timeout = textOf(input['timeout']);
  const workers = textOf(input['workers']);
  const deadlineMs = timeout === undefined ? null : parseDuration(timeout);
  if (deadlineMs === undefined)
    throw usage(`--timeout ${timeout} is not a duration.`, 'Use seconds (5400), or a text such as 90m or 2h.');
  if (input['resume'] === true && input['base'] !== undefined) {
    throw usage(
      '--resume and --base do not go together.',
      'A resumed run keeps its base; for another one: mahabharatha cleanup, then start anew.',
    );
  }
  const count = workers === undefined ? undefined : Number(workers);
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > 64)) {
    throw usage(`--workers ${workers} is not a number of workers.`, 'Use a whole number from 1 to 64.');
  }
  return {
    feature: textOf(input['feature']),
    graphFile: textOf(input['taskGraph']),
    workers: count,
    mode: textOf(input['mode']),
    agent: textOf(input['agent']),
    base: textOf(input['base']),
    deadlineMs,
    resume: input['resume'] === true,
    dryRun: input['dryRun'] === true,
    autoBuild: input['autoBuild'] === true,
    trustConfig: input['trustConfig'] === true,
    json: input['json'] === true,
  };
}

function usage(problem: string, hint: string): AppError {
  return libErrors.USAGE({ problem, hint });
}
