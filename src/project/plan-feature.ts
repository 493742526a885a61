import { agentErrors } from '../agents/errors.ts';
import type { Config } from '../config/index.ts';
import { hasCode, listed } from '../lib/index.ts';
import {
  ANSWERS,
  asDraft,
  haveSameWords,
  parseRequirements,
  requirementsPrompt,
  requirementsTemplate,
  withBodyOf,
} from '../planning/index.ts';
import type { Words } from '../planning/index.ts';
import { planningErrors } from '../planning/errors.ts';
import { askAgent, ROUNDS } from './ask-agent.ts';
import type { OnProblems } from './ask-agent.ts';
import type { AgentProblem } from './check-agent.ts';
import type { Project } from './project.ts';
import { planningName } from './planning-name.ts';
import { asFile, findRequirements, requirementsPlace, writeOrPropose } from './requirements-file.ts';
import type { RequirementsFile, Written } from './requirements-file.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunWishes } from './run-request.ts';

const ANSWER = `${ANSWERS}/requirements.md`;
const ASK_AGAIN = 'Ask again; --agent names another agent.';

export interface PlanRequest {
  readonly project: Project;
  readonly config: Config;
  readonly feature: string;
  readonly words: Words;
  readonly wishes: Pick<RunWishes, 'agent' | 'mode'> & { readonly withoutAgent: boolean };
  readonly at: Date;
  readonly onProblems: OnProblems;
}

export interface Planned extends Written {
  /** What is in the file, or in the proposal. */
  readonly requirements: RequirementsFile;
  /** Why no agent has filled it in; null when one has. */
  readonly withoutAgent: AgentProblem | null;
}

/**
 * Writes the requirements of a feature, or proposes new ones. Throws REFINEMENT_NEEDS_AGENT, REFINEMENT_UNUSABLE and
 * AGENT_GAVE_NO_ANSWER.
 */
export async function planFeature(request: PlanRequest, host: RunHost, face: RunFace): Promise<Planned> {
  const { project, feature, words, at } = request;
  const file = await requirementsPlace(project, feature);
  const before = await findRequirements(project, feature);
  const author = await project.repository.author();
  const start = before === undefined ? requirementsTemplate({ feature, author, at }, words) : asDraft(before.text);
  const { text, missing, unusable } = await filledIn(start, request, host, face);
  if (before !== undefined && missing !== null) throw planningErrors.REFINEMENT_NEEDS_AGENT({ file, ...missing });
  if (before !== undefined && unusable !== null) throw planningErrors.REFINEMENT_UNUSABLE({ file, reason: unusable });
  if (before !== undefined && haveSameWords(before.text, text))
    return { file, proposed: null, isUnchanged: true, requirements: before, withoutAgent: null };
  const written = await writeOrPropose(file, text);
  const requirements = asFile(feature, written.proposed ?? file, text);
  const withoutAgent = missing ?? (unusable === null ? null : { reason: unusable, remedy: ASK_AGAIN });
  return { ...written, withoutAgent, requirements };
}

interface Filled {
  readonly text: string;
  /** Why there is no agent that could be asked; null when one was. */
  readonly missing: AgentProblem | null;
  /** Why the text is still the one that it began with; null when an agent has filled it in. */
  readonly unusable: string | null;
}

async function filledIn(start: string, request: PlanRequest, host: RunHost, face: RunFace): Promise<Filled> {
  const without = (missing: AgentProblem): Filled => ({ text: start, missing, unusable: null });
  if (request.wishes.withoutAgent)
    return without({ reason: '--without-agent says so', remedy: 'Leave that option out.' });
  try {
    return { missing: null, ...(await askedFor(start, request, host, face)) };
  } catch (error) {
    if (hasCode(error, agentErrors.NO_AGENT)) return without(error.facts);
    throw error;
  }
}

/** An answer with all its parts that still has problems after the last round is a draft, too. */
async function askedFor(
  start: string,
  request: PlanRequest,
  host: RunHost,
  face: RunFace,
): Promise<Omit<Filled, 'missing'>> {
  const { feature, words } = request;
  let [last, whole, gaps]: [string, string | undefined, readonly string[]] = ['', undefined, []];
  let problems: readonly string[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    host.interrupted.throwIfAborted();
    const prompt = requirementsPrompt({ feature, words, document: start, last, problems });
    const question = { feature: planningName(feature), title: `Requirements of ${feature}`, prompt };
    const answer = await askAgent({ ...question, files: [ANSWER] }, { ...request, host, face });
    const { text, fault } = answer(ANSWER);
    last = withBodyOf(start, text);
    const read = parseRequirements(last);
    gaps = fault === null ? read.gaps : [`${ANSWER} ${fault}`];
    if (gaps.length === 0) whole = last;
    problems = fault === null ? read.problems.filter((problem) => !read.questions.includes(problem)) : gaps;
    if (problems.length === 0) break;
    if (round < ROUNDS) request.onProblems(round, problems);
  }
  if (whole !== undefined) return { text: whole, unusable: null };
  return { text: start, unusable: `its answer cannot be used after ${ROUNDS} rounds (${firstOf(gaps)})` };
}

/** An answer in prose lacks every section. */
function firstOf(gaps: readonly string[]): string {
  const told = gaps.slice(0, 3);
  return `${listed(told)}${gaps.length > told.length ? `, and ${gaps.length - told.length} more` : ''}`;
}
