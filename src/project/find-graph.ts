import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { hasCode, libErrors, reasonOf, systemCode } from '../lib/index.ts';
import type { AppError } from '../lib/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { parseGraph } from '../tasks/index.ts';
import { leftWork } from './left-work.ts';
import { checkFeatureName, graphPlace } from './project.ts';
import type { Project } from './project.ts';
import type { LoadedGraph, RunWishes } from './run-request.ts';

/** The task graph of the named feature, of the only feature, or of the named file. */
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

/** A run that was started from another file is resumed with the copy of its graph. */
async function featureGraph(project: Project, feature: string, { resume }: RunWishes): Promise<LoadedGraph> {
  const graph = await graphPlace(project, feature);
  try {
    return await loadGraph(graph);
  } catch (error) {
    if (resume !== true || !hasCode(error, taskErrors.GRAPH_MISSING)) throw error;
    if ((await project.store(feature).read()) === undefined) throw (await leftWork(project, feature)) ?? error;
    return loadGraph(project.paths.feature(feature).usedGraph);
  }
}

function usage(problem: string, hint: string): AppError {
  return libErrors.USAGE({ problem, hint });
}

/** Reads and checks a task graph; throws with all its problems at once. */
export async function loadGraph(file: string): Promise<LoadedGraph> {
  const text = await readText(file);
  const value = parseJson(file, text);
  const parsed = parseGraph(value);
  if (!parsed.ok) throw taskErrors.GRAPH_INVALID({ file, problems: parsed.problems });
  checkFeatureName(parsed.graph.feature);
  return { graphText: text, graph: parsed.graph, warnings: parsed.warnings };
}

async function readText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') throw taskErrors.GRAPH_MISSING({ file });
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const problem = `it is not JSON: ${reasonOf(error)}${lineOf(reasonOf(error), text)}`;
    throw taskErrors.GRAPH_INVALID({ file, problems: [problem] }, { cause: error });
  }
}

/** Node 20 names only a position. */
function lineOf(message: string, text: string): string {
  const position = /at position (\d+)(?!.*line)/.exec(message)?.[1];
  if (position === undefined) return '';
  const lines = text.slice(0, Number(position)).split('\n');
  return ` (line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1})`;
}
