import { findTraces, mergedTasks } from '../git/index.ts';
import type { AppError } from '../lib/index.ts';
import { projectErrors } from './errors.ts';
import type { Project } from './project.ts';
import { runFolders } from './run-folders.ts';

/** Why there is no state of a run: none was started, or the state was removed and the work is still there. */
export async function noRun(project: Project, feature: string): Promise<AppError> {
  return (await leftWork(project, feature)) ?? projectErrors.NO_RUN({ feature });
}

/** What to say of refs of a run that has no state; undefined when there are none. */
export async function leftWork({ repository, paths, store }: Project, feature: string): Promise<AppError | undefined> {
  const traces = await findTraces(repository, feature, runFolders(paths.feature(feature)));
  const refs = [...traces.refs.map(({ ref }) => ref), ...traces.checkedOut.map((kept) => `refs/heads/${kept.branch}`)];
  // A run that was started just now has written its state before its first ref.
  if (refs.length === 0 || (await store(feature).read()) !== undefined) return undefined;
  const merged = await mergedTasks(repository, feature);
  return projectErrors.TRACES_LEFT({ feature, refs, merged });
}
