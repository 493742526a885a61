import type { Config } from '../config/index.ts';
import { listed } from '../lib/index.ts';
import {
  ANSWERS,
  asDraft,
  parseRequirements,
  requirementsPrompt,
  requirementsTemplate,
  withBodyOf,
} from '../planning/index.ts';
import type { Words } from '../planning/index.ts';
import { planningErrors } from '../planning/errors.ts';
import { askAgent } from './ask-agent.ts';
import { machinePlace } from './agent-place.ts';
import { examineAgent } from './check-agent.ts';
import type { Project } from './project.ts';
import { planningName } from './planning-name.ts';
import { asFile, findRequirements, requirementsPlace, writeOrPropose } from './requirements-file.ts';
import type { RequirementsFile, Written } from './requirements-file.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunWishes } from './run-request.ts';
import { agentSpec } from './run-agents.ts';

const ANSWER = `${ANSWERS}/requirements.md`;
/** How often an answer with problems is asked for again. */
const ROUNDS = 3;

export interface PlanRequest {
  readonly project: Project;
  readonly config: Config;
  readonly feature: string;
  readonly words: Words;
  readonly wishes: Pick<RunWishes, 'agent' | 'mode'> & { readonly withoutAgent: boolean };
  readonly at: Date;
}

export interface Planned extends Written {
  /** What is in the file, or in the proposal. */
  readonly requirements: RequirementsFile;
  /** Why no agent has filled it in; null when one has. */
  readonly withoutAgent: string | null;
}

/**
 * Writes the requirements of a feature, or proposes new ones. Throws REFINEMENT_NEEDS_AGENT, REFINEMENT_UNUSABLE and
 * AGENT_GAVE_NO_ANSWER.
 */
export async function planFeature(request: PlanRequest, host: RunHost, face: RunFace): Promise<Planned> {
  const { project, feature, words, at } = request;
  const file = await requirementsPlace(project, feature);
  const before = await findRequirements(project, feature);
  const withoutAgent = await whyNoAgent(request, host);
  if (before !== undefined && withoutAgent !== null)
    throw planningErrors.REFINEMENT_NEEDS_AGENT({ file, reason: withoutAgent });
  const author = await project.repository.author();
  const start = before === undefined ? requirementsTemplate({ feature, author, at }, words) : asDraft(before.text);
  const filled = withoutAgent === null ? await filledIn(start, request, host, face) : { text: start, unusable: null };
  const { text, unusable } = filled;
  if (before !== undefined && unusable !== null) throw planningErrors.REFINEMENT_UNUSABLE({ file, reason: unusable });
  const written = await writeOrPropose(file, text);
  const requirements = asFile(feature, written.proposed ?? file, text);
  return { ...written, withoutAgent: withoutAgent ?? unusable, requirements };
}

async function whyNoAgent({ config, wishes }: PlanRequest, { env }: RunHost): Promise<string | null> {
  if (wishes.withoutAgent) return '--without-agent';
  const spec = agentSpec(config, wishes.agent ?? config.agent);
  // In a container it is looked for when its run begins.
  if (spec.kind !== 'shell' && (wishes.mode ?? config.workers.mode) === 'container') return null;
  return (await examineAgent(spec, machinePlace(env), env)).problem?.reason ?? null;
}

interface Filled {
  readonly text: string;
  /** Why the text is still the one that it began with; null when an agent has filled it in. */
  readonly unusable: string | null;
}

/** An answer with all its parts that still has problems after the last round is a draft, too. */
async function filledIn(start: string, request: PlanRequest, host: RunHost, face: RunFace): Promise<Filled> {
  const { feature, words } = request;
  let [last, whole, gaps]: [string, string | undefined, readonly string[]] = ['', undefined, []];
  let problems: readonly string[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    host.interrupted.throwIfAborted();
    const prompt = requirementsPrompt({ feature, words, document: start, last, problems });
    const question = { feature: planningName(feature), title: `Requirements of ${feature}`, prompt };
    const answer = await askAgent({ ...question, files: [ANSWER] }, { ...request, host, face });
    last = withBodyOf(start, answer.get(ANSWER) ?? '');
    const read = parseRequirements(last);
    gaps = read.gaps;
    if (gaps.length === 0) whole = last;
    problems = read.problems.filter((problem) => !read.questions.includes(problem));
    if (problems.length === 0) break;
  }
  if (whole !== undefined) return { text: whole, unusable: null };
  return { text: start, unusable: `its answer cannot be used after ${ROUNDS} rounds (${listed(gaps)})` };
}
