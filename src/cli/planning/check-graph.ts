import path from 'node:path';
import { counted, libErrors, line, printable, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { coverageOf } from '../../planning/index.ts';
import {
  findGraph,
  findRequirements,
  fixGraph,
  graphFileOf,
  openProject,
  readDesign,
  usedAgents,
} from '../../project/index.ts';
import type { Project, RunWishes } from '../../project/index.ts';
import { MOST_WORKERS } from '../../protocol/index.ts';
import { adviceOn, formatAdvice, formatMermaid } from '../../tasks/index.ts';
import type { Mend } from '../../tasks/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { check } from '../commands/check.ts';
import { featureFor } from '../feature-for.ts';
import { formOf } from '../form.ts';

type Input = InputOf<typeof check>;

/** `check`: looks at a graph alone; changes its file only with `--fix`. */
export async function checkGraph(input: Input, context: CliContext): Promise<number> {
  const form = formOf(input);
  const project = await openProject(context);
  const workers = await workersOf(input, project);
  const config = await project.config();
  const { ownership } = config;
  const wishes = await whichGraph(input, project, context);
  const file = input.fix ? await graphFileOf(project, wishes) : undefined;
  const mends = file === undefined ? undefined : await fixGraph(file, ownership);
  // A diagram is all that stdout has then.
  const tell = form === 'text' ? context.out : context.err;
  if (file !== undefined && mends !== undefined && form !== 'json') tell(mendsInWords(file, mends));
  const loaded = await findGraph(project, wishes, ownership);
  const { graph, warnings } = loaded;
  // A run would refuse it.
  usedAgents(config, config.agent, graph);
  if (form === 'mermaid') {
    context.out(printableLines(formatMermaid(graph).map(printable)));
    return 0;
  }
  const uncovered = await notCovered(project, graph.feature, loaded.graphText);
  const advice = adviceOn(graph, workers);
  const whole = { ...advice, notes: [...advice.notes, ...uncovered] };
  if (form === 'json') {
    const facts = { type: 'check', feature: graph.feature, workers, ...whole, warnings };
    context.out(line`${printableJson(mends === undefined ? facts : { ...facts, mended: { file, levels: mends } })}\n`);
    return 0;
  }
  for (const warning of warnings) context.err(line`note: ${warning}\n`);
  context.out(printableLines(formatAdvice(graph, whole, workers).map(printable)));
  return 0;
}

function mendsInWords(file: string, mends: readonly Mend[]): Printable {
  if (mends.length === 0) return line`${file}: there is nothing to mend.\n\n`;
  const levels = mends.map(({ id, from, to, cause }) => {
    const change = from === null ? line`level ${to}` : line`level ${from} -> ${to}`;
    return line`  ${id}: ${change}, because ${cause}`;
  });
  return line`${file}: ${counted(mends.length, 'level')} written.\n${printableLines(levels)}\n`;
}

/** A file that is named says itself whose graph it is. */
async function whichGraph({ feature, graphFile }: Input, project: Project, context: CliContext): Promise<RunWishes> {
  if (graphFile !== undefined) return { feature, graphFile: path.resolve(context.cwd, graphFile) };
  return { feature: await featureFor(project, feature, 'start', context) };
}

async function workersOf({ workers }: Input, project: Project): Promise<number> {
  if (workers === undefined) return (await project.config()).workers.count;
  const count = Number(workers);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_WORKERS) return count;
  throw libErrors.USAGE({
    problem: `--workers ${workers} is not a number of workers.`,
    hint: `Use a whole number from 1 to ${MOST_WORKERS}.`,
  });
}

/** Of a feature with requirements. */
async function notCovered(project: Project, feature: string, graphText: string): Promise<string[]> {
  const found = await findRequirements(project, feature);
  if (found === undefined) return [];
  const { missing } = coverageOf(found.requirements, JSON.parse(graphText), await readDesign(project, feature));
  return missing.map((id) => `no task covers the requirement ${id}, and the design does not say why`);
}
