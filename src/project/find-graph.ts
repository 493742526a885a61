import { hasCode, libErrors } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { parseGraph } from '../tasks/index.ts';
import type { Ownership } from '../tasks/index.ts';
import { checkFeatureName } from './feature-name.ts';
import { withLines } from './graph-lines.ts';
import { leftWork } from './left-work.ts';
import { graphPlace } from './project.ts';
import type { Project } from './project.ts';
import { readGraph } from './read-graph.ts';
import type { LoadedGraph, RunWishes } from './run-request.ts';

/** The task graph of the feature that is meant, or of the named file. */
export async function findGraph(project: Project, wishes: RunWishes, ownership: Ownership): Promise<LoadedGraph> {
  const named = wishes.feature;
  if (wishes.graphFile === undefined) {
    const { feature } = await project.feature(named, wishes.resume === true ? 'see' : 'start');
    const loaded = await featureGraph(project, feature, wishes, ownership);
    if (loaded.graph.feature === feature) return loaded;
    throw usage(
      `The task graph of feature "${feature}" says that it is for "${loaded.graph.feature}".`,
      'Make "feature" in the file and the name of its folder the same.',
    );
  }
  const loaded = await loadGraph(wishes.graphFile, ownership);
  if (named === undefined || named === loaded.graph.feature) return loaded;
  throw usage(
    `--feature ${named} and the task graph ("feature": "${loaded.graph.feature}") do not agree.`,
    'Leave --feature out, or mend the file.',
  );
}

/** The file of that graph. */
export async function graphFileOf(
  project: Project,
  { feature, graphFile }: Pick<RunWishes, 'feature' | 'graphFile'>,
): Promise<string> {
  return graphFile ?? graphPlace(project, (await project.feature(feature, 'start')).feature);
}

/** A run that was started from another file is resumed with the copy of its graph. */
async function featureGraph(
  project: Project,
  feature: string,
  { resume }: RunWishes,
  ownership: Ownership,
): Promise<LoadedGraph> {
  const graph = await graphPlace(project, feature);
  try {
    return await loadGraph(graph, ownership);
  } catch (error) {
    if (resume !== true || !hasCode(error, taskErrors.GRAPH_MISSING)) throw error;
    if ((await project.store(feature).read()) === undefined) throw (await leftWork(project, feature)) ?? error;
    return loadGraph(project.paths.feature(feature).usedGraph, ownership);
  }
}

function usage(problem: string, hint: string): AppError {
  return libErrors.USAGE({ problem, hint });
}

/** Reads and checks a task graph; throws with all its problems at once. */
export async function loadGraph(file: string, ownership: Ownership): Promise<LoadedGraph> {
  const { text, value, json } = await readGraph(file);
  const parsed = parseGraph(value, ownership);
  if (!parsed.ok) throw taskErrors.GRAPH_INVALID({ file, problems: withLines(file, text, parsed.problems) });
  checkFeatureName(parsed.graph.feature);
  return { graphText: json, graph: parsed.graph, warnings: parsed.warnings };
}
