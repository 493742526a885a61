import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { findTraces, mergedTasks } from '../git/index.ts';
import { removeIfEmpty } from '../lib/index.ts';
import type { AppError, Environment } from '../lib/index.ts';
import { removeGoneRuns } from '../state/index.ts';
import type { FeaturePaths, RunState } from '../state/index.ts';
import { projectErrors } from './errors.ts';
import type { Project } from './project.ts';

/** The state of a feature's run. Without one: none was started, or the state was removed and the work is still there. */
export async function readRun(project: Project, feature: string): Promise<RunState> {
  const state = await project.store(feature).read();
  if (state !== undefined) return state;
  throw (await leftWork(project, feature)) ?? projectErrors.NO_RUN({ features: [feature] });
}

/** The error for a run whose refs are there, and whose state is gone or in another working tree; undefined without refs. */
export async function leftWork(project: Project, feature: string): Promise<AppError | undefined> {
  const { repository, paths, store } = project;
  const traces = await findTraces(repository, feature, runFolders(paths.feature(feature)));
  const refs = [...traces.refs.map(({ ref }) => ref), ...traces.checkedOut.map((kept) => `refs/heads/${kept.branch}`)];
  // A run that has just been started writes its state before its first ref.
  if (refs.length === 0 || (await store(feature).read()) !== undefined) return undefined;
  const elsewhere = await runElsewhere(project, feature);
  if (elsewhere !== undefined) return elsewhere;
  const merged = await mergedTasks(repository, feature);
  return projectErrors.TRACES_LEFT({ feature, refs, merged });
}

/** All folders in which worktrees of a feature's workers may be, those of earlier versions included. */
export function runFolders({ workers, formerly }: FeaturePaths): readonly string[] {
  return [workers, ...formerly];
}

/** Removes folders of runs whose repository is gone, and says which. A folder that cannot be removed does no harm. */
export async function clearGoneRuns(env: Environment): Promise<string[]> {
  const roots = await removeGoneRuns(env, Date.now()).catch((): string[] => []);
  return [...new Set(roots)].map((root) => `removed what workers of ${root} had left: that repository is gone`);
}

/** Another working tree that has the run: state and lock belong to a working tree, refs to the whole repository. */
export async function otherOwner({ repository }: Project, feature: string): Promise<string | undefined> {
  const others = (await repository.listWorktrees()).map(({ folder }) => folder);
  return others.find((root) => root !== repository.root && existsSync(stateIn(root, feature)));
}

const stateIn = (root: string, feature: string): string => path.join(root, '.mahabharatha', 'state', `${feature}.json`);

/** The error when another working tree has the run: two runs would move the same branches. */
export async function runElsewhere(project: Project, feature: string): Promise<AppError | undefined> {
  const root = await otherOwner(project, feature);
  if (root === undefined) return undefined;
  const here = existsSync(project.store(feature).paths.state);
  return projectErrors.RUN_ELSEWHERE({ feature, root, state: stateIn(root, feature), here });
}

/** Removes the empty folders of a run in the repository. The lock has been released. */
export async function removeEmptyFolders({ paths }: Project, run: FeaturePaths): Promise<void> {
  // Another command that has taken the lock since then has put it into its folder.
  for (const folder of [run.requests, run.logs, run.folder]) await removeIfEmpty(folder);
  for (const folder of [paths.state, paths.logs, ...paths.formerly]) await removeIfOurs(folder);
}

/** Removes a folder that holds only our ignore file. */
async function removeIfOurs(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  if (names.length !== 1 || names[0] !== '.gitignore') return;
  await rm(path.join(folder, '.gitignore'), { force: true });
  await removeIfEmpty(folder);
}
