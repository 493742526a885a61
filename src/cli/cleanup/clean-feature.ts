import { line, printable, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { checkCleaning, clearGoneRuns, openProject, planCleaning, removeRun } from '../../project/index.ts';
import type { CleaningPlan, EngineTraces } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { cleanup } from '../commands/cleanup.ts';
import { cliErrors } from '../errors.ts';

/** `cleanup`: lists what is removed, asks, removes it. */
export async function cleanFeature(input: InputOf<typeof cleanup>, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(input.feature);
  const store = project.store(feature);
  const cleaning = { project, store, feature, caches: input.caches, env: context.env };
  const plan = await planCleaning(cleaning, input.dryRun);
  const json = input.json;
  for (const problem of plan.engine.problems) if (!json) context.err(line`note: ${problem}\n`);
  if (isEmpty(plan)) {
    context.out(json ? inJson(feature, plan, false) : line`There is nothing of "${feature}" to clean up.\n`);
    return 0;
  }
  if (!json) context.out(formatPlan(feature, plan));
  if (input.dryRun) {
    if (json) context.out(inJson(feature, plan, false));
    return 0;
  }
  await checkCleaning(cleaning, plan);
  if (!input.yes && !(context.terminal && (await context.confirm(line`Remove all this?`)))) {
    throw cliErrors.CLEANUP_UNCONFIRMED({ feature });
  }
  await removeRun(cleaning, plan);
  for (const note of await clearGoneRuns(context.env)) if (!json) context.err(line`note: ${note}\n`);
  context.out(json ? inJson(feature, plan, true) : line`Removed.\n`);
  return 0;
}

function inJson(feature: string, plan: CleaningPlan, removed: boolean): Printable {
  return line`${printableJson({ type: 'cleanup', feature, removed, ...plan })}\n`;
}

function isEmpty(plan: CleaningPlan): boolean {
  const { runs, caches } = plan.engine;
  return [plan.worktrees, plan.refs, plan.paths, runs, caches].every((found) => found.length === 0);
}

function formatPlan(feature: string, plan: CleaningPlan): Printable {
  const branches = plan.refs.filter(({ ref }) => ref.startsWith('refs/heads/'));
  const attempts = plan.refs.filter(({ ref }) => /\/\d+$/.test(ref)).length;
  const lines = [
    `Of feature "${feature}" this goes:`,
    ...plan.worktrees.map((folder) => `  worktree ${folder}`),
    ...branches.map(({ ref, commit }) => `  branch   ${ref.slice('refs/heads/'.length)} (${commit.slice(0, 10)})`),
    ...(attempts > 0 ? [`  attempts ${attempts} kept commits`] : []),
    ...plan.paths.map((file) => `  files    ${file}`),
    ...engineLines(feature, plan.engine),
    ...plan.checkedOut.map(({ branch, folder }) => `This stays: branch ${branch}, checked out in ${folder}.`),
    ...(plan.unmerged > 0 ? [`Mind: ${plan.unmerged} commits of the integration branch are in no other branch.`] : []),
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
