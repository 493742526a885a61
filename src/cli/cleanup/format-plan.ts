import { inBytes, printable, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { inNoBranch } from '../../project/index.ts';
import type { CleaningPlan, EngineTraces } from '../../project/index.ts';

export function isEmpty(plan: CleaningPlan): boolean {
  const { runs, caches } = plan.engine;
  return [plan.worktrees, plan.refs, plan.paths, plan.snapshots, runs, caches].every((found) => found.length === 0);
}

export function formatPlan(feature: string, plan: CleaningPlan): Printable {
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
    ...(plan.unmerged > 0 ? [`Note: ${inNoBranch(plan.unmerged)}.`] : []),
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
