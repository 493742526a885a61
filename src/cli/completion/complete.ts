import { libErrors, line, printable, printableBlock, printableLines } from '../../lib/index.ts';
import { findGraph, inSpecs, openProject } from '../../project/index.ts';
import type { Project } from '../../project/index.ts';
import type { CliContext, CommandDefinition, InputOf } from '../command.ts';
import type { completion } from '../commands/completion.ts';
import { candidates } from './candidates.ts';
import type { Names } from './candidates.ts';
import { SCRIPTS } from './scripts.ts';

/** `completion`: the script of a shell, and what that script asks. */
export async function complete(
  { argument = '', rest }: InputOf<typeof completion>,
  context: CliContext,
  commands: readonly CommandDefinition[],
): Promise<number> {
  if (argument === 'words') {
    const found = await candidates(rest, commands, namesIn(context));
    if (found.length > 0) context.out(printableLines(found.map(printable)));
    return 0;
  }
  const script = Object.hasOwn(SCRIPTS, argument) ? SCRIPTS[argument] : undefined;
  if (script === undefined)
    throw libErrors.USAGE({
      problem: `There is no completion for "${argument}".`,
      hint: `Name one of ${Object.keys(SCRIPTS).join(', ')}.`,
    });
  context.out(line`${printableBlock(script, '')}`);
  return 0;
}

/** A line that cannot be completed is no error. */
function namesIn(context: CliContext): Names {
  const project = openProject(context);
  project.catch(() => undefined);
  const orNone = async (work: (project: Project) => Promise<readonly string[]>): Promise<readonly string[]> =>
    project.then(work).catch(() => []);
  return {
    features: () => orNone(async ({ paths }) => (await inSpecs(paths)).folders),
    tasks: (feature) =>
      orNone(async (known) => {
        const chosen = await known.feature(feature, 'see');
        return (await findGraph(known, chosen, 'off')).graph.tasks.map(({ id }) => id);
      }),
    workers: (feature) =>
      orNone(async (known) => {
        const chosen = await known.feature(feature, 'see');
        return Object.keys((await known.store(chosen.feature).read())?.workers ?? {});
      }),
  };
}
