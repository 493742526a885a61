import { counted, hasCode } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import type { RunState } from '../state/index.ts';
import { namesIn } from './choose-feature.ts';
import { planCleaning } from './clean-run.ts';
import type { CleaningPlan } from './clean-run.ts';
import type { Cleaning } from './engine-traces.ts';
import { projectErrors } from './errors.ts';
import { isFeatureName } from './feature-name.ts';
import { isPlanningName } from './planning-name.ts';
import type { Project } from './project.ts';

interface CleanAllWishes {
  readonly caches: boolean;
  /** Also what is in no other branch, and runs that can go on. */
  readonly unmerged: boolean;
  readonly dryRun: boolean;
  readonly env: Environment;
}

/** A feature of which a run has left something. */
export interface CleanableRun {
  readonly cleaning: Cleaning;
  readonly plan: CleaningPlan;
  /** Why it stays; null when it may be removed. */
  readonly kept: string | null;
}

/** Of all features, and of agents that have planned. What the repository has once is in the first plan that is not kept. */
export async function planCleaningAll(project: Project, wishes: CleanAllWishes): Promise<CleanableRun[]> {
  const { all } = await namesIn(project);
  const found: CleanableRun[] = [];
  // One after the other: each takes the lock of its feature for a moment.
  for (const feature of all.filter(isFeatureName)) {
    const { caches, env } = wishes;
    found.push(...(await planOne({ project, feature, store: project.store(feature), caches, env }, wishes)));
  }
  return onlyOnce(found);
}

async function planOne(cleaning: Cleaning, { dryRun, unmerged }: CleanAllWishes): Promise<CleanableRun[]> {
  const { store, feature } = cleaning;
  const holder = await store.holder();
  try {
    const plan = await planCleaning(cleaning, dryRun || holder !== undefined);
    // A damaged state may be of a run whose work is needed.
    const status = await store.read().then(
      (state) => state?.status ?? null,
      () => 'damaged' as const,
    );
    const facts = { isQuestion: isPlanningName(feature), pid: holder?.pid, status, unmerged: plan.unmerged };
    return [{ cleaning, plan, kept: whyKept(facts, unmerged) }];
  } catch (error) {
    // The working tree that has the run cleans it up.
    if (hasCode(error, projectErrors.CLEANUP_ELSEWHERE)) return [];
    throw error;
  }
}

interface RunFacts {
  /** An agent was asked to plan: nothing of it is merged. */
  readonly isQuestion: boolean;
  /** Of the process that drives it now. */
  readonly pid: number | undefined;
  readonly status: RunState['status'] | 'damaged' | null;
  /** Commits of its work that no branch has but those of runs. */
  readonly unmerged: number;
}

/** Pure. Why `cleanup --all` does not remove a run; `wanted`: unmerged ones are to go, too. */
export function whyKept({ isQuestion, pid, status, unmerged }: RunFacts, wanted: boolean): string | null {
  if (pid !== undefined) return `it runs now (process ${pid})`;
  if (isQuestion || wanted) return null;
  if (status === 'damaged') return 'its state cannot be read';
  if (status !== 'complete' && status !== null)
    return `its run is ${status === 'running' ? 'broken off' : status} and can go on`;
  return unmerged === 0 ? null : inNoBranch(unmerged);
}

/** Branches of other runs do not count: those may be removed as well. */
export function inNoBranch(unmerged: number): string {
  return `${counted(unmerged, 'commit is', 'commits are')} in no branch outside mahabharatha/`;
}

function onlyOnce(runs: readonly CleanableRun[]): CleanableRun[] {
  const seen = new Set<string>();
  const isNew = (what: string): boolean => !seen.has(what) && seen.add(what).has(what);
  return runs.map((run) => {
    if (run.kept !== null) return run;
    const { snapshots, engine } = run.plan;
    const only = {
      snapshots: snapshots.filter(({ id }) => isNew(`snapshot ${id}`)),
      engine: {
        runs: engine.runs.filter(({ runId }) => isNew(`run ${runId}`)),
        caches: engine.caches.filter((name) => isNew(`cache ${name}`)),
        problems: engine.problems,
      },
    };
    return { ...run, plan: { ...run.plan, ...only } };
  });
}
