import {
  asAppError,
  counted,
  printableBlock,
  isThere,
  line,
  printable,
  printableJson,
  printableLines,
} from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { featureRow, findRequirements, graphPlace, loadGraph } from '../../project/index.ts';
import type { Project, RequirementsFile } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { standingText } from './plan-requirements.ts';

/** How a feature stands that has no run yet; false when it has neither requirements nor a task graph. */
export async function showPlanning(
  project: Project,
  feature: string,
  { json }: { readonly json: boolean },
  context: CliContext,
): Promise<boolean> {
  const found = await findRequirements(project, feature);
  const graph = await graphOf(project, feature);
  if (found === undefined && graph === undefined) return false;
  const row = await featureRow(project, feature);
  const merged = row.standing === 'merged' ? row : undefined;
  const next =
    merged === undefined ? nextOf(feature, found, graph) : `mahabharatha kurukshetra --feature ${feature} --again`;
  if (json) {
    const requirements = found && pick(found);
    const facts = {
      feature,
      merged: merged !== undefined,
      requirements: requirements ?? null,
      graph: graph !== undefined,
    };
    context.out(line`${printableJson({ type: 'planning', ...facts, graphProblem: graph?.problem ?? null, next })}\n`);
    return true;
  }
  const lines: Printable[] = [
    merged === undefined
      ? line`${feature}: no run yet.`
      : line`${feature}: no run any more; it is ${merged.cause ?? 'merged'}.`,
    line`Requirements: ${found === undefined ? 'none' : standingText(found)}`,
    line`Task graph: ${printableBlock(graph?.inWords ?? 'none', '  ')}`,
    printable(''),
    line`Next: ${next}`,
  ];
  context.out(printableLines(lines));
  return true;
}

const pick = ({ standing, by, at, problems }: RequirementsFile): object => ({ standing, by, at, problems });

interface Graph {
  readonly inWords: string;
  readonly problem: string | null;
}

async function graphOf(project: Project, feature: string): Promise<Graph | undefined> {
  try {
    const file = await graphPlace(project, feature);
    if (!(await isThere(file))) return undefined;
    const { tasks, levels } = (await loadGraph(file, 'off')).graph;
    return { inWords: `${counted(tasks.length, 'task')} in ${counted(levels.length, 'level')}`, problem: null };
  } catch (error) {
    const problem = asAppError(error).message;
    return { inWords: `it cannot be used. ${problem}`, problem };
  }
}

function nextOf(feature: string, found: RequirementsFile | undefined, graph: Graph | undefined): string {
  if (graph === undefined) return `mahabharatha ${found?.standing === 'approved' ? 'design' : 'approve'} ${feature}`;
  return graph.problem === null ? `mahabharatha kurukshetra --feature ${feature}` : `mahabharatha check ${feature}`;
}
