import type { Environment } from '../lib/index.ts';
import { reportOf } from '../report/index.ts';
import type { RunReport } from '../report/index.ts';
import type { Project } from './project.ts';
import { viewStatus } from './status-view.ts';

/** What the run of a feature has done so far. Throws NO_RUN and TRACES_LEFT. */
export async function reportRun(project: Project, feature: string, env: Environment): Promise<RunReport> {
  const view = await viewStatus(project, feature, env);
  return reportOf(view, await project.store(feature).events(), Date.now());
}
