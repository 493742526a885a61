import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { loadConfig } from '../config/index.ts';
import type { Config } from '../config/index.ts';
import { openRepository } from '../git/index.ts';
import type { Repository } from '../git/index.ts';
import { foreignLock, isThere, libErrors } from '../lib/index.ts';
import type { Environment } from '../lib/index.ts';
import { replay } from '../orchestrator/index.ts';
import { locateRuns, openStore, projectPaths } from '../state/index.ts';
import type { ProjectPaths, StateStore } from '../state/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { isWrittenByRuns, OWN_FOLDER } from '../tasks/index.ts';
import { chooseFeature } from './choose-feature.ts';
import type { ChosenFeature } from './choose-feature.ts';
import type { FeatureUse } from './decide-feature.ts';
import { projectErrors } from './errors.ts';
import { GRAPH_NAMES } from './graph-text.ts';

/** The user's repository, seen as a Mahabharatha project. */
export interface Project {
  readonly repository: Repository;
  readonly paths: ProjectPaths;
  config(): Promise<Config>;
  /** The feature that is meant: the named one, or the one that is meant without a name. */
  feature(name: string | undefined, use: FeatureUse): Promise<ChosenFeature>;
  store(feature: string): StateStore;
}

/** Where a project is looked for: in this folder or above it. */
export interface Place {
  readonly cwd: string;
  readonly env: Environment;
}

/** `mayBeEmpty`: also before the first commit, for what needs none. */
export async function openProject(
  { cwd, env }: Place,
  wishes: { readonly mayBeEmpty?: boolean } = {},
): Promise<Project> {
  const repository = await openRepository(cwd, env, wishes);
  const paths = projectPaths(repository.root, await locateRuns(repository.root, env));
  for (const folder of [paths.top, paths.specs, paths.state, paths.logs]) await checkNoLink(folder);
  await checkNothingCommitted(repository);
  return projectAt(repository, paths);
}

/**
 * The project with the workers' folder of the approved configuration, for a run. All other commands use the recorded
 * folder, so that a configuration cannot make them clean up a folder of its choice.
 */
export async function placeWorkers({ repository }: Project, { workers }: Config, env: Environment): Promise<Project> {
  const placeOf = await locateRuns(repository.root, env, workers.folder);
  return projectAt(repository, projectPaths(repository.root, placeOf));
}

/** The folder of this user's snapshots, beside the runs. */
export function snapshotsOf(top: string): string {
  return path.join(top, 'snapshots');
}

function projectAt(repository: Repository, paths: ProjectPaths): Project {
  const store = (feature: string): StateStore => openStore(paths, feature, replay);
  return {
    repository,
    paths,
    config: () => loadConfig(paths.config),
    feature: (name, use) => chooseFeature({ paths, repository, store }, name, use),
    store,
  };
}

/** Where the task graph of a feature is, or belongs. Refuses links there: they could lead to any file of the user. */
export async function graphPlace(project: Project, feature: string): Promise<string> {
  const files: string[] = [];
  for (const name of GRAPH_NAMES) {
    const file = await specPlace(project, feature, name);
    if (await isThere(file)) files.push(file);
  }
  if (files.length > 1) throw taskErrors.GRAPH_AMBIGUOUS({ files });
  return files[0] ?? specPlace(project, feature, GRAPH_NAMES[0]);
}

/** Where a document of a feature belongs. Refuses links as well. */
export async function specPlace({ paths }: Project, feature: string, name: string): Promise<string> {
  const file = path.join(paths.specs, feature, name);
  for (const part of [path.dirname(file), file]) await checkNoLink(part);
  return file;
}

/** Through a link the repository could choose where settings are read and state is written. */
async function checkNoLink(file: string): Promise<void> {
  const isLink = await lstat(file).then(
    (stat) => stat.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return;
  const problem = `${file} is a link: runs would be steered, and write, wherever it leads.`;
  throw libErrors.USAGE({ problem, hint: 'Remove it, or put a file or folder of the repository in its place.' });
}

/** A committed state would steer runs, and a committed link would lead logs or a clean-up to other files of the user. */
async function checkNothingCommitted({ trackedFiles }: Repository): Promise<void> {
  const tracked = await trackedFiles(OWN_FOLDER);
  // The folder itself can be a submodule, whose files git does not list here.
  const files = tracked.filter((file) => isWrittenByRuns(file) || !file.includes('/'));
  if (files.length > 0) throw projectErrors.RUN_FILES_COMMITTED({ files });
}

/** Throws while an orchestrator works on the feature. */
export async function checkAtRest(store: StateStore, feature: string): Promise<void> {
  const holder = await store.holder();
  if (holder === undefined) return;
  throw foreignLock(store.paths.lock, holder) ?? projectErrors.RUN_LIVE({ feature, pid: holder.pid });
}

export function relativeTo(root: string, file: string): string {
  const relative = path.relative(root, file);
  return relative === '' ? '.' : relative.startsWith('..') ? file : relative;
}
