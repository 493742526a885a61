import { asAppError, joined, line, printableJson } from '../../lib/index.ts';
import type { AppError, Printable } from '../../lib/index.ts';
import { checkCleaning, clearGoneRuns, openProject, planCleaningAll, removeRun } from '../../project/index.ts';
import type { CleanableRun } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { cleanup } from '../commands/cleanup.ts';
import { cliErrors } from '../errors.ts';
import { formatPlan, isEmpty } from './format-plan.ts';

type Input = InputOf<typeof cleanup>;

/** `cleanup --all`: lists what goes and what stays, asks once, and removes one run after the other. */
export async function cleanAll(input: Input, context: CliContext): Promise<number> {
  const found = await planCleaningAll(await openProject(context), { ...input, env: context.env });
  const runs = found.filter(({ plan }) => !isEmpty(plan));
  const doomed = runs.filter(({ kept }) => kept === null);
  const say = (text: Printable): void => void (input.json || context.out(text));
  const note = (text: string): void => void (input.json || context.err(line`note: ${text}\n`));
  new Set(doomed.flatMap(({ plan }) => plan.engine.problems)).forEach(note);
  say(listing(runs));
  if (input.dryRun || doomed.length === 0) return end(runs, [], input, context);
  const confirmed = input.yes || (context.terminal && (await context.confirm(line`Remove all this?`)));
  if (!confirmed) throw cliErrors.CLEANUP_UNCONFIRMED({ features: doomed.map(featureOf) });
  const attempts: Attempt[] = [];
  for (const run of doomed) {
    const error = await remove(run);
    attempts.push({ feature: featureOf(run), error });
    if (error === null) say(line`Removed ${featureOf(run)}.\n`);
    else note(`${featureOf(run)} stays: ${error.message}`);
  }
  (await clearGoneRuns(context.env)).forEach(note);
  return end(runs, attempts, input, context);
}

interface Attempt {
  readonly feature: string;
  readonly error: AppError | null;
}

/** What keeps one run from being removed keeps no other one. */
async function remove({ cleaning, plan }: CleanableRun): Promise<AppError | null> {
  try {
    await checkCleaning(cleaning, plan);
    await removeRun(cleaning, plan);
    return null;
  } catch (error) {
    return asAppError(error);
  }
}

/** Throws the first failure. */
function end(
  runs: readonly CleanableRun[],
  attempts: readonly Attempt[],
  { json }: Input,
  { out }: CliContext,
): number {
  const errors = new Map(attempts.map(({ feature, error }) => [feature, error]));
  const features = runs.map(({ cleaning: { feature }, plan, kept }) => ({
    feature,
    removed: errors.get(feature) === null,
    kept: kept ?? errors.get(feature)?.message ?? null,
    ...plan,
  }));
  if (json) out(line`${printableJson({ type: 'cleanup', features })}\n`);
  const failure = attempts.find(({ error }) => error !== null)?.error;
  if (failure != null) throw failure;
  return 0;
}

function listing(runs: readonly CleanableRun[]): Printable {
  if (runs.length === 0) return line`There is nothing to clean up.\n`;
  const parts = runs
    .toSorted((one, other) => Number(one.kept !== null) - Number(other.kept !== null))
    .map((run) =>
      run.kept === null
        ? formatPlan(featureOf(run), run.plan)
        : line`Kept: the run of "${featureOf(run)}": ${run.kept}.\n`,
    );
  return joined(parts, '');
}

const featureOf = ({ cleaning }: CleanableRun): string => cleaning.feature;
