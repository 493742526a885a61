import { inBytes, line, printable, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { checkCleaning, clearGoneRuns, openProject, planCleaning, removeRun } from '../../project/index.ts';
import type { CleaningPlan, EngineTraces } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { cleanup } from '../commands/cleanup.ts';
import { cliErrors } from '../errors.ts';
import { featureFor } from '../feature-for.ts';

/** `cleanup`: lists what is removed, asks, removes it. */
export async function cleanFeature(input: InputOf<typeof cleanup>, context: CliContext): Promise<number> {
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
    if (!confirmed) throw cliErrors.CLEANUP_UNCONFIRMED({ feature });
    await removeRun(cleaning, plan);
    (await clearGoneRuns(context.env)).forEach(note);
    say(line`Removed.\n`);
  }
  if (input.json) context.out(line`${printableJson({ type: 'cleanup', feature, removed, ...plan })}\n`);
  return 0;
}

function isEmpty(plan: CleaningPlan): boolean {
  const { runs, caches } = plan.engine;
  return [plan.worktrees, plan.refs, plan.paths, plan.snapshots, runs, caches].every((found) => found.length === 0);
}

function formatPlan(feature: string, plan: CleaningPlan): Printable {
  const branches = plan.refs.filter(({ ref }) => ref.startsWith('refs/heads/'));
  const attempts = plan.refs.filter(({ ref }) => /\/\d+$/.test(ref)).length;
  const lines = [
    `To be removed of feature "${feature}":`,
    ...plan.worktrees.map((folder) => `  worktree ${folder}`),
    ...branches.map(({ ref, commit }) => `  branch   ${ref.slice('refs/heads/'.length)} (${commit.slice(0, 10)})`),
    ...(attempts > 0 ? [`  attempts ${attempts} kept commits`] : []),
    ...plan.paths.map((file) => `  files    ${file}`),
    ...engineLines(feature, plan.engine),
    ...plan.snapshots.map(
      ({ id, bytes }) => `  snapshot ${id} (${inBytes(bytes)}, of all features of this repository)`,
    ),
    ...plan.checkedOut.map(({ branch, folder }) => `Kept: branch ${branch}, checked out in ${folder}.`),
    ...(plan.keptSnapshots === null ? [] : [`Kept: ${plan.keptSnapshots}.`]),
    ...(plan.unmerged > 0 ? [`Note: ${plan.unmerged} commits of the integration branch are in no other branch.`] : []),
  ];
  return printableLines(lines.map(printable));
}

function engineLines(feature: string, { runs, caches }: EngineTraces): string[] {
  const lines = runs.flatMap(({ runId, feature: other, containers, volumes }) => {
    const whose = other === feature ? '' : `, left by run ${runId} of "${other}"`;
    return [
      ...containers.map((name) => `  container ${name}${whose}`),
      ...volumes.map((name) => `  volume   ${name}${whose}`),
    ];
  });
  return [...lines, ...caches.map((name) => `  cache    ${name}`)];
}
