import path from 'node:path';
import { hasCode, libErrors } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { leftWork } from './left-work.ts';
import { loadGraph } from './load-graph.ts';
import type { LoadedGraph } from './load-graph.ts';
import type { Project } from './project.ts';
import type { RunWishes } from './run-wishes.ts';

/** The task graph that is meant: of the named feature, of the only one there is, or of the named file. */
export async function findGraph(project: Project, wishes: RunWishes): Promise<LoadedGraph> {
  const named = wishes.feature;
  if (wishes.graphFile === undefined) {
    const feature = await project.feature(named);
    const loaded = await featureGraph(project, feature, wishes);
    if (loaded.graph.feature === feature) return loaded;
    throw usage(
      `The task graph of feature "${feature}" says that it is for "${loaded.graph.feature}".`,
      'Make "feature" in the file and the name of its folder the same.',
    );
  }
  const loaded = await loadGraph(path.resolve(project.repository.git.cwd, wishes.graphFile));
  if (named === undefined || named === loaded.graph.feature) return loaded;
  throw usage(
    `--feature ${named} and the task graph ("feature": "${loaded.graph.feature}") do not agree.`,
    'Leave --feature out, or mend the file.',
  );
}

/** A resumed run that was started from a file elsewhere goes on with the graph it had. */
async function featureGraph(project: Project, feature: string, { resume }: RunWishes): Promise<LoadedGraph> {
  const { graph, usedGraph } = project.paths.feature(feature);
  try {
    return await loadGraph(graph);
  } catch (error) {
    if (resume !== true || !hasCode(error, taskErrors.GRAPH_MISSING)) throw error;
    if ((await project.store(feature).read()) === undefined) throw (await leftWork(project, feature)) ?? error;
    return loadGraph(usedGraph);
  }
}

function usage(problem: string, hint: string): AppError {
  return libErrors.USAGE({ problem, hint });
}
