import { findTraces } from '../git/index.ts';
import type { FeatureTraces } from '../git/index.ts';
import { hasCode, isThere, removeTree } from '../lib/index.ts';
import { knownRefs } from '../orchestrator/index.ts';
import { stateErrors } from '../state/errors.ts';
import { clearRun } from '../state/index.ts';
import type { RunState, StateStore } from '../state/index.ts';
import { NO_TRACES, findEngineTraces, removeEngineTraces } from './engine-traces.ts';
import type { Cleaning, EngineTraces } from './engine-traces.ts';
import { projectErrors } from './errors.ts';
import { otherOwner, removeEmptyFolders, runFolders } from './left-work.ts';
import { checkAtRest, relativeTo } from './project.ts';
import { findSnapshots, removeSnapshots } from './snapshot-cleaning.ts';
import type { LeftSnapshots } from './snapshot-cleaning.ts';
import { shellFolders } from './shell-folders.ts';
import { sweepRun } from './wire.ts';

export interface CleaningPlan extends FeatureTraces, LeftSnapshots {
  /** Files and folders of ours, relative to the repository. */
  readonly paths: readonly string[];
  readonly runId: string | null;
  readonly engine: EngineTraces;
}

/** Lists what will be removed: only what has an exact name of ours. A dry run changes nothing. */
export async function planCleaning(cleaning: Cleaning, dryRun: boolean): Promise<CleaningPlan> {
  // While there is half a record, git lists no working trees.
  await cleaning.project.repository.repairRecords();
  await checkOwned(cleaning);
  if (!dryRun) await repair(cleaning);
  const plan = await makePlan(cleaning);
  const [engine, snapshots] = await Promise.all([lookIntoEngine(cleaning), findSnapshots(cleaning)]);
  return { ...plan, ...snapshots, engine };
}

/** Throws when the run is live, or when the engine cannot say what the run has left in it. */
export async function checkCleaning({ store, feature }: Cleaning, { engine }: CleaningPlan): Promise<void> {
  await checkAtRest(store, feature);
  const status = (await readIfWhole(store))?.status;
  // A run that has come to its end has removed its containers itself.
  if (status !== 'complete' && status !== 'failed') checkNoProblem(store, feature, engine);
}

/** The lock is of this working tree alone: it says nothing about a run of another one, which may be live. */
async function checkOwned({ project, feature }: Cleaning): Promise<void> {
  const root = await otherOwner(project, feature);
  if (root !== undefined) throw projectErrors.CLEANUP_ELSEWHERE({ feature, root });
}

/**
 * Repairs refs that a killed git left half written: git can neither list nor remove those. Nothing is confirmed yet, and the
 * run may be kept: what its state knows is made again.
 */
async function repair({ project, store, feature }: Cleaning): Promise<void> {
  if ((await store.holder()) !== undefined) return;
  // Locking makes this folder. Without it there is no run to lock.
  const release = (await isThere(store.paths.folder)) ? await lock(store, feature) : undefined;
  try {
    await project.repository.removeEmptyObjects();
    const state = await readIfWhole(store);
    await project.repository.repairRefs(feature, state === undefined ? new Map() : knownRefs(state));
  } finally {
    await release?.();
  }
}

/** An unseen container may be alive and write in the folders that are removed; without the state nothing would find it later. */
function checkNoProblem({ paths }: StateStore, feature: string, { problems }: EngineTraces): void {
  if (problems.length > 0) throw projectErrors.CLEANUP_BLIND({ feature, folder: paths.workers, problems });
}

/** A damaged state does not prevent a clean-up. */
async function readIfWhole(store: StateStore): Promise<RunState | undefined> {
  try {
    return await store.read();
  } catch (error) {
    if (hasCode(error, stateErrors.STATE_INVALID) || hasCode(error, stateErrors.STATE_VERSION)) return undefined;
    throw error;
  }
}

/** Only a run in containers can have left something in the engine. */
async function lookIntoEngine(cleaning: Cleaning): Promise<EngineTraces> {
  const { store, caches } = cleaning;
  const contained = (await readIfWhole(store))?.settings.mode === 'container' || (await isThere(store.paths.workers));
  return contained || caches ? findEngineTraces(cleaning) : NO_TRACES;
}

/** The part that is looked at again before it is removed. */
type Made = Omit<CleaningPlan, 'engine' | keyof LeftSnapshots>;

async function makePlan({ project, store, feature }: Cleaning): Promise<Made> {
  const { state, folder, logs } = store.paths;
  const ours = runFolders(store.paths);
  const known = await readIfWhole(store);
  const traces = await findTraces(project.repository, feature, ours, known?.integrationTip);
  const there = await Promise.all(
    [state, folder, logs, ...ours].map(async (file) => ((await isThere(file)) ? [file] : [])),
  );
  return {
    ...traces,
    paths: there.flat().map((file) => relativeTo(project.repository.root, file)),
    runId: known?.runId ?? null,
  };
}

/** Removes what was listed; throws CLEANUP_OUTDATED when there is something else by now. */
export async function removeRun(cleaning: Cleaning, plan: CleaningPlan): Promise<void> {
  const { project, store, feature, env } = cleaning;
  const release = await lock(store, feature);
  try {
    await checkOwned(cleaning);
    if (!isSame(plan, await makePlan(cleaning))) throw projectErrors.CLEANUP_OUTDATED({ feature });
    const state = await readIfWhole(store);
    if (state !== undefined && state.settings.mode !== 'container') await sweepRun(state, env);
    checkNoProblem(store, feature, await removeEngineTraces(plan.engine, cleaning));
    await project.repository.removeWorktrees(plan.worktrees);
    for (const folder of store.paths.formerly) await removeTree(folder);
    await store.removeWorkers();
    await project.repository.changeRefs(plan.refs.map(({ ref, commit }) => ({ ref, to: null, from: commit })));
    await clearRun(store.paths);
    await removeSnapshots(plan, cleaning);
  } finally {
    await release();
  }
  await shellFolders(project, feature).clearGone();
  await removeEmptyFolders(project, store.paths);
}

/** Folders are left out of the comparison, because locking makes some. */
function isSame(shown: CleaningPlan, now: Made): boolean {
  const facts = ({ worktrees, refs, checkedOut, unmerged, runId }: Made): string =>
    JSON.stringify({ worktrees, refs, checkedOut, unmerged, runId });
  return facts(shown) === facts(now);
}

async function lock(store: StateStore, feature: string): Promise<() => Promise<void>> {
  try {
    return await store.lock();
  } catch (error) {
    if (hasCode(error, stateErrors.ALREADY_RUNNING))
      throw projectErrors.RUN_LIVE({ feature, pid: error.facts.pid }, { cause: error });
    throw error;
  }
}
