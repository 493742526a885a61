import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { findTraces } from '../../git/index.ts';
import type { FeatureTraces } from '../../git/index.ts';
import { RUN_LABEL } from '../../launchers/index.ts';
import { hasCode, line, printable, printableJson, printableLines, removeTree } from '../../lib/index.ts';
import type { Environment, Printable } from '../../lib/index.ts';
import { stateErrors } from '../../state/errors.ts';
import { clearRun } from '../../state/index.ts';
import type { RunState, StateStore } from '../../state/index.ts';
import { textOf } from '../command.ts';
import type { CliContext, CommandInput } from '../command.ts';
import {
  NO_TRACES,
  checkAtRest,
  clearGoneRuns,
  findEngineTraces,
  openProject,
  otherOwner,
  relativeTo,
  removeEmptyFolders,
  removeEngineTraces,
  runFolders,
  sweepRun,
} from '../../project/index.ts';
import type { EngineTraces, Project } from '../../project/index.ts';
import { cliErrors } from '../errors.ts';
import { projectErrors } from '../../project/errors.ts';

interface Plan extends FeatureTraces {
  /** Files and folders of ours, relative to the repository. */
  readonly paths: readonly string[];
  readonly runId: string | null;
  readonly engine: EngineTraces;
}

interface Cleaning {
  readonly project: Project;
  readonly store: StateStore;
  readonly feature: string;
  readonly caches: boolean;
  readonly env: Environment;
}

/** `cleanup`: says what goes, asks, removes it. Deterministic, by exact names, and nothing that is not ours. */
export async function cleanFeature(input: CommandInput, context: CliContext): Promise<number> {
  const project = await openProject(context);
  const feature = await project.feature(textOf(input['feature']));
  const store = project.store(feature);
  const cleaning = { project, store, feature, caches: input['caches'] === true, env: context.env };
  await repair(cleaning, input['dryRun'] === true);
  const plan = { ...(await makePlan(cleaning)), engine: await lookIntoEngine(cleaning) };
  const json = input['json'] === true;
  for (const problem of plan.engine.problems) if (!json) context.err(line`note: ${problem}\n`);
  if (isEmpty(plan)) {
    context.out(json ? inJson(feature, plan, false) : line`There is nothing of "${feature}" to clean up.\n`);
    return 0;
  }
  if (!json) context.out(formatPlan(feature, plan));
  if (input['dryRun'] === true) {
    if (json) context.out(inJson(feature, plan, false));
    return 0;
  }
  await checkAtRest(store, feature);
  if (!(await hasEnded(store))) checkNoProblem(store, feature, plan.engine);
  if (input['yes'] !== true && !(context.terminal && (await context.confirm(line`Remove all this?`)))) {
    throw cliErrors.CLEANUP_UNCONFIRMED({ feature });
  }
  await remove(cleaning, plan);
  for (const note of await clearGoneRuns(context.env)) if (!json) context.err(line`note: ${note}\n`);
  context.out(json ? inJson(feature, plan, true) : line`Removed.\n`);
  return 0;
}

function inJson(feature: string, plan: Plan, removed: boolean): Printable {
  return line`${printableJson({ type: 'cleanup', feature, removed, ...plan })}\n`;
}

/** Git could neither list nor remove what a killed git has left half written. */
async function repair({ project, store, feature }: Cleaning, dryRun: boolean): Promise<void> {
  await project.repository.repairRecords();
  if (dryRun || (await store.holder()) !== undefined) return;
  // To take the lock makes this folder; where it is not, no run has it.
  const release = (await exists(store.paths.folder)) ? await lock(store, feature) : undefined;
  try {
    await project.repository.removeEmptyObjects();
    await project.repository.repairRefs(feature, new Map());
  } finally {
    await release?.();
  }
}

/** In order, and with nothing left: it has seen to that itself. */
async function hasEnded(store: StateStore): Promise<boolean> {
  const status = (await readIfWhole(store))?.status;
  return status === 'complete' || status === 'failed';
}

/**
 * A container that nobody can see may live, and write in the folders that are to go; and without the state nobody would
 * look for it again.
 */
function checkNoProblem({ paths }: StateStore, feature: string, { problems }: EngineTraces): void {
  if (problems.length > 0) throw projectErrors.CLEANUP_BLIND({ feature, folder: paths.workers, problems });
}

/** A state that cannot be read must not keep anybody from cleaning up. */
async function readIfWhole(store: StateStore): Promise<RunState | undefined> {
  try {
    return await store.read();
  } catch (error) {
    if (hasCode(error, stateErrors.STATE_INVALID) || hasCode(error, stateErrors.STATE_VERSION)) return undefined;
    throw error;
  }
}

/** Only a run in containers has left something there: for all others no engine is looked for. */
async function lookIntoEngine(cleaning: Cleaning): Promise<EngineTraces> {
  const { store, caches } = cleaning;
  const contained = (await readIfWhole(store))?.settings.mode === 'container' || (await exists(store.paths.workers));
  return contained || caches ? findEngineTraces(cleaning) : NO_TRACES;
}

async function makePlan({ project, store, feature }: Cleaning): Promise<Omit<Plan, 'engine'>> {
  const { state, folder, logs } = store.paths;
  const ours = runFolders(store.paths);
  const traces = await findTraces(project.repository, feature, ours);
  const root = await otherOwner(project, feature);
  if (root !== undefined) throw projectErrors.CLEANUP_ELSEWHERE({ feature, root });
  const there = await Promise.all(
    [state, folder, logs, ...ours].map(async (file) => ((await exists(file)) ? [file] : [])),
  );
  const known = await readIfWhole(store);
  return {
    ...traces,
    paths: there.flat().map((file) => relativeTo(project.repository.root, file)),
    runId: known?.runId ?? null,
  };
}

function isEmpty(plan: Plan): boolean {
  const { runs, caches } = plan.engine;
  return [plan.worktrees, plan.refs, plan.paths, runs, caches].every((found) => found.length === 0);
}

function formatPlan(feature: string, plan: Plan): Printable {
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
  const lines = runs.flatMap(({ id, labels, containers, volumes }) => {
    const other = labels[RUN_LABEL.feature];
    const whose = other === feature ? '' : `, left by run ${id} of "${other}"`;
    return [
      ...containers.map((name) => `  container ${name}${whose}`),
      ...volumes.map((name) => `  volume   ${name}${whose}`),
    ];
  });
  return [...lines, ...caches.map((name) => `  cache    ${name}`)];
}

async function remove(cleaning: Cleaning, plan: Plan): Promise<void> {
  const { project, store, feature, env } = cleaning;
  const release = await lock(store, feature);
  try {
    if (!isSame(plan, await makePlan(cleaning))) throw projectErrors.CLEANUP_OUTDATED({ feature });
    const state = await readIfWhole(store);
    if (state !== undefined && state.settings.mode !== 'container') await sweepRun(state, env);
    checkNoProblem(store, feature, await removeEngineTraces(plan.engine, cleaning));
    for (const folder of plan.worktrees) await project.repository.removeWorktree(folder);
    for (const folder of store.paths.formerly) await removeTree(folder);
    await store.removeWorkers();
    await project.repository.changeRefs(plan.refs.map(({ ref, commit }) => ({ ref, to: null, from: commit })));
    await clearRun(store.paths);
  } finally {
    await release();
  }
  await removeEmptyFolders(project, store.paths);
}

/** What was confirmed is still all there is; to take the lock makes folders, so those do not count. */
function isSame(shown: Plan, now: Omit<Plan, 'engine'>): boolean {
  const facts = ({ worktrees, refs, checkedOut, unmerged, runId }: Omit<Plan, 'engine'>): string =>
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

async function exists(file: string): Promise<boolean> {
  const names = await readdir(path.dirname(file)).catch((): string[] => []);
  return names.includes(path.basename(file));
}
