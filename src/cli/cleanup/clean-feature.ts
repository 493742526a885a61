import { libErrors, line, printableJson } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { checkCleaning, clearGoneRuns, openProject, planCleaning, removeRun } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { cleanup } from '../commands/cleanup.ts';
import { cliErrors } from '../errors.ts';
import { featureFor } from '../feature-for.ts';
import { cleanAll } from './clean-all.ts';
import { formatPlan, isEmpty } from './format-plan.ts';

type Input = InputOf<typeof cleanup>;

/** `cleanup`: lists what is removed, asks, removes it. */
export async function cleanUp(input: Input, context: CliContext): Promise<number> {
  if (input.all && input.feature !== undefined)
    throw libErrors.USAGE({ problem: '--all and --feature do not go together.', hint: 'Leave one of them out.' });
  if (input.unmerged && !input.all)
    throw libErrors.USAGE({
      problem: '--unmerged is for --all.',
      hint: 'With --feature a run is removed whether or not it is merged.',
    });
  return input.all ? cleanAll(input, context) : cleanFeature(input, context);
}

async function cleanFeature(input: Input, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'remove', context);
  const store = project.store(feature);
  const cleaning = { project, store, feature, caches: input.caches, env: context.env };
  const plan = await planCleaning(cleaning, input.dryRun);
  const removed = !isEmpty(plan) && !input.dryRun;
  const say = (text: Printable): void => void (input.json || context.out(text));
  const note = (text: string): void => void (input.json || context.err(line`note: ${text}\n`));
  plan.engine.problems.forEach(note);
  say(isEmpty(plan) ? line`There is nothing of "${feature}" to clean up.\n` : formatPlan(feature, plan));
  if (removed) {
    await checkCleaning(cleaning, plan);
    const confirmed = input.yes || (context.terminal && (await context.confirm(line`Remove all this?`)));
    if (!confirmed) throw cliErrors.CLEANUP_UNCONFIRMED({ features: [feature] });
    await removeRun(cleaning, plan);
    (await clearGoneRuns(context.env)).forEach(note);
    say(line`Removed.\n`);
  }
  if (input.json) context.out(line`${printableJson({ type: 'cleanup', feature, removed, ...plan })}\n`);
  return 0;
}
