import path from 'node:path';
import { parseDuration } from '../../config/index.ts';
import { hasCode, libErrors } from '../../lib/index.ts';
import type { AppError } from '../../lib/index.ts';
import { taskErrors } from '../../tasks/errors.ts';
import { textOf } from '../command.ts';
import type { CommandInput } from '../command.ts';
import { leftWork, loadGraph } from '../../project/index.ts';
import type { LoadedGraph, Project } from '../../project/index.ts';

/** What was asked of `kurukshetra`. */
export interface Wishes {
  readonly graphFile: string | undefined;
  readonly workers: number | undefined;
  readonly mode: string | undefined;
  readonly agent: string | undefined;
  readonly base: string | undefined;
  readonly deadlineMs: number | null;
  readonly resume: boolean;
  readonly dryRun: boolean;
  readonly autoBuild: boolean;
  readonly trustConfig: boolean;
  readonly json: boolean;
}

/** What the command line says, as far as it can be right. */
export function readWishes(input: CommandInput): Wishes {
  const timeout = textOf(input['timeout']);
  const workers = textOf(input['workers']);
  const deadlineMs = timeout === undefined ? null : parseDuration(timeout);
  if (deadlineMs === undefined)
    throw usage(`--timeout ${timeout} is not a duration.`, 'Use seconds (5400), or a text such as 90m or 2h.');
  if (input['resume'] === true && input['base'] !== undefined) {
    throw usage(
      '--resume and --base do not go together.',
      'A resumed run keeps its base; for another one: mahabharatha cleanup, then start anew.',
    );
  }
  const count = workers === undefined ? undefined : Number(workers);
  if (count !== undefined && (!Number.isInteger(count) || count < 1 || count > 64)) {
    throw usage(`--workers ${workers} is not a number of workers.`, 'Use a whole number from 1 to 64.');
  }
  return {
    graphFile: textOf(input['taskGraph']),
    workers: count,
    mode: textOf(input['mode']),
    agent: textOf(input['agent']),
    base: textOf(input['base']),
    deadlineMs,
    resume: input['resume'] === true,
    dryRun: input['dryRun'] === true,
    autoBuild: input['autoBuild'] === true,
    trustConfig: input['trustConfig'] === true,
    json: input['json'] === true,
  };
}

function usage(problem: string, hint: string): AppError {
  return libErrors.USAGE({ problem, hint });
}

export async function findGraph(project: Project, wishes: Wishes, named: string | undefined): Promise<LoadedGraph> {
  if (wishes.graphFile === undefined) {
    const feature = await project.feature(named);
    const loaded = await featureGraph(project, feature, wishes.resume);
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
async function featureGraph(project: Project, feature: string, resume: boolean): Promise<LoadedGraph> {
  const { graph, usedGraph } = project.paths.feature(feature);
  try {
    return await loadGraph(graph);
  } catch (error) {
    if (!resume || !hasCode(error, taskErrors.GRAPH_MISSING)) throw error;
    if ((await project.store(feature).read()) === undefined) throw (await leftWork(project, feature)) ?? error;
    return loadGraph(usedGraph);
  }
}
