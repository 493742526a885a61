import path from 'node:path';
import { agentErrors } from '../agents/errors.ts';
import type { Config } from '../config/index.ts';
import { hasCode } from '../lib/index.ts';
import { ANSWERS, coverageOf, designPrompt } from '../planning/index.ts';
import type { Coverage } from '../planning/index.ts';
import { planningErrors } from '../planning/errors.ts';
import { parseGraph } from '../tasks/index.ts';
import type { Ownership } from '../tasks/index.ts';
import { askAgent, ROUNDS } from './ask-agent.ts';
import type { Answer, OnProblems } from './ask-agent.ts';
import { graphTextFor, isYaml, readGraphText } from './graph-text.ts';
import { schemaFile } from './package-files.ts';
import { planningName } from './planning-name.ts';
import { graphPlace, specPlace } from './project.ts';
import type { Project } from './project.ts';
import { writeOrPropose, writeSpec } from './requirements-file.ts';
import type { RequirementsFile, Written } from './requirements-file.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunWishes } from './run-request.ts';

const DESIGN = `${ANSWERS}/design.md`;
const GRAPH = `${ANSWERS}/task-graph.json`;

export interface DesignRequest {
  readonly project: Project;
  readonly config: Config;
  readonly requirements: RequirementsFile;
  readonly wishes: Pick<RunWishes, 'agent' | 'mode'> & { readonly force: boolean };
  readonly onProblems: OnProblems;
}

export interface Designed {
  readonly graph: Written;
  readonly design: Written;
  readonly tasks: number;
  readonly coverage: Coverage;
  readonly warnings: readonly string[];
}

/** Throws REQUIREMENTS_NOT_APPROVED, DESIGN_NEEDS_AGENT, AGENT_GAVE_NO_ANSWER and DESIGN_INVALID. */
export async function designFeature(request: DesignRequest, host: RunHost, face: RunFace): Promise<Designed> {
  const { requirements: asked, wishes, onProblems } = request;
  const { feature, standing, text, requirements } = asked;
  if (standing !== 'approved' && !wishes.force) throw planningErrors.REQUIREMENTS_NOT_APPROVED({ feature, standing });
  let last: Judged | undefined;
  for (let round = 1; round <= ROUNDS; round += 1) {
    host.interrupted.throwIfAborted();
    const prompt = designPrompt({ feature, requirements: text, ids: requirements, problems: last?.problems ?? [] });
    const question = { feature: planningName(feature), title: `Design of ${feature}`, prompt };
    const asking = { ...request, host, face };
    const answering = askAgent({ ...question, files: [DESIGN, GRAPH] }, asking);
    const answer = await answering.catch((error: unknown) => byHand(error, request));
    last = judge(answer, asked, request.config.ownership);
    if (last.problems.length === 0) return await keep(last, request);
    if (round < ROUNDS) onProblems(round, last.problems);
  }
  throw await invalid(last, request);
}

/** Says how a graph is made without an agent. */
async function byHand(error: unknown, { project, requirements: { feature } }: DesignRequest): Promise<never> {
  if (!hasCode(error, agentErrors.NO_AGENT)) throw error;
  const [file, schema] = [await graphPlace(project, feature), schemaFile('task-graph.schema.json')];
  throw planningErrors.DESIGN_NEEDS_AGENT({ feature, file, schema, ...error.facts }, { cause: error });
}

interface Judged {
  readonly graphText: string;
  readonly value: unknown;
  readonly designText: string;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly tasks: number;
  readonly coverage: Coverage;
}

/** The design is judged by its graph, and by what of the requirements it covers. */
function judge(answer: Answer, { feature, requirements }: RequirementsFile, ownership: Ownership): Judged {
  const [{ text: graphText, fault }, design] = [answer(GRAPH), answer(DESIGN)];
  const designText = design.text;
  const found = fault === null ? readGraphText(GRAPH, graphText) : { ok: false as const, problems: [`it ${fault}`] };
  const value = found.ok ? found.value : undefined;
  const read = found.ok ? parseGraph(value, ownership) : undefined;
  const coverage = coverageOf(requirements, value, designText);
  const problems = [
    ...(designText.trim() === '' ? [`${DESIGN} ${design.fault ?? 'is empty'}`] : []),
    ...(found.ok ? [] : found.problems.map((problem) => `${GRAPH}: ${problem}`)),
    ...(read === undefined ? [] : graphProblems(read, feature)),
    ...coverage.missing.map(
      (id) => `no task names the requirement ${id}, and "Not covered" in design.md does not either`,
    ),
  ];
  const tasks = read?.ok === true ? read.graph.tasks.length : 0;
  return { graphText, value, designText, problems, warnings: read?.warnings ?? [], tasks, coverage };
}

function graphProblems(read: ReturnType<typeof parseGraph>, feature: string): readonly string[] {
  if (!read.ok) return read.problems;
  return read.graph.feature === feature ? [] : [`"feature" is "${read.graph.feature}"; it must be "${feature}"`];
}

async function keep(judged: Judged, { project, requirements: { feature } }: DesignRequest): Promise<Designed> {
  const { graphText, designText, tasks, coverage, warnings } = judged;
  const design = await writeOrPropose(await specPlace(project, feature, 'design.md'), designText);
  const place = await graphPlace(project, feature);
  const graph = await writeOrPropose(place, isYaml(place) ? graphTextFor(place, judged.value) : graphText);
  return { design, graph, tasks, coverage, warnings };
}

/** A graph that is not valid never takes the place of the feature's graph. */
async function invalid(last: Judged | undefined, { project, requirements }: DesignRequest): Promise<Error> {
  const folder = path.dirname(await graphPlace(project, requirements.feature));
  const file = path.join(folder, 'task-graph.invalid.json');
  if (last !== undefined) {
    await writeSpec(file, last.graphText);
    await writeSpec(path.join(folder, 'task-graph.problems.txt'), `${last.problems.join('\n')}\n`);
    await writeSpec(path.join(folder, 'design.invalid.md'), last.designText);
  }
  return planningErrors.DESIGN_INVALID({ file, rounds: ROUNDS, problems: last?.problems ?? ['it was interrupted'] });
}
