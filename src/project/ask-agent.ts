import { agentErrors } from '../agents/errors.ts';
import type { Config } from '../config/index.ts';
import { AppError, hasCode, inBytes } from '../lib/index.ts';
import type { RunState } from '../state/index.ts';
import { planningErrors } from '../planning/errors.ts';
import { parseGraph } from '../tasks/index.ts';
import { taskErrors } from '../tasks/errors.ts';
import { checkCleaning, planCleaning, removeRun } from './clean-run.ts';
import type { CleaningPlan } from './clean-run.ts';
import { projectErrors } from './errors.ts';
import type { Project } from './project.ts';
import type { RunFace, RunHost } from './run-face.ts';
import { runFeature } from './run-feature.ts';
import type { RunWishes } from './run-request.ts';

const TASK = 'PLAN-1';
const LARGEST_GRAPH = 4 * 1024 ** 2;
const LARGEST_DOCUMENT = 256 * 1024;

/** How often an agent is asked, until an answer can be used. */
export const ROUNDS = 3;

/** An answer cannot be used; its problems are the next question's. */
export type OnProblems = (round: number, problems: readonly string[]) => void;

/** A question to an agent, whose answer are files. */
export interface Question {
  /** Of a run of its own, that is removed when there is an answer. */
  readonly feature: string;
  readonly title: string;
  readonly prompt: string;
  /** Files that it is to write, and no others. */
  readonly files: readonly [string, ...string[]];
}

interface Asking {
  readonly project: Project;
  readonly config: Config;
  readonly wishes: Pick<RunWishes, 'agent' | 'mode' | 'maxMs'>;
  readonly host: RunHost;
  readonly face: RunFace;
}

/** One file of an answer. */
interface AnsweredFile {
  /** Empty when it cannot be used. */
  readonly text: string;
  /** Why it cannot be used, in words that follow its name; null when it can. */
  readonly fault: string | null;
}

/** What the agent has written, by file. */
export type Answer = (file: string) => AnsweredFile;

/**
 * An agent answers as the worker of a task does: with the same limits, credentials and network, in a container where the mode
 * says so, on a checkout of its own. So nothing that it does reaches the repository, and a change to another file than
 * those of the answer is refused. Throws NO_AGENT when the machine lacks what it needs to begin, and AGENT_GAVE_NO_ANSWER; the
 * run is kept then, for its logs, until the next question.
 */
export async function askAgent(question: Question, asking: Asking): Promise<Answer> {
  const { project, config, wishes, host, face } = asking;
  await clear(question, asking);
  const request = { project, config: forOneTask(config), wishes: { ...wishes, workers: 1 }, ...graphOf(question) };
  let isBegun = false;
  const open: RunFace['open'] = (...facts) => {
    isBegun = true;
    return face.open(...facts);
  };
  try {
    const { state } = await runFeature(request, host, { ...face, open });
    host.interrupted.throwIfAborted();
    const answer = await answerIn(state, question, project);
    await clearAtEnd(question, asking);
    return answer;
  } catch (error) {
    if (!hasCode(error, agentErrors.AGENT_GAVE_NO_ANSWER)) await clearAtEnd(question, asking);
    throw isBegun ? error : unavailable(error);
  }
}

/** What a machine lacks is no agent for the user, whichever part of a run has missed it. */
function unavailable(error: unknown): unknown {
  if (!(error instanceof AppError) || error.kind !== 'environment') return error;
  const reason = hasCode(error, agentErrors.AGENT_UNUSABLE) ? error.facts.reason : error.message.replace(/\.$/, '');
  return agentErrors.NO_AGENT({ reason, remedy: error.hint }, { cause: error });
}

/** Nothing is built, so nothing is set up and gated, and no hook is told. */
const forOneTask = (config: Config): Config => {
  const { setup: _setup, copy: _copy, ...workers } = config.workers;
  const { timeout } = config.hooks;
  return { ...config, workers: { ...workers, copy: [] }, gates: [], hooks: { timeout }, ownership: 'enforce' };
};

function graphOf({ feature, title, prompt, files }: Question) {
  const task = { id: TASK, title, description: prompt, level: 1, files: { create: files } };
  const value = { feature, version: '2.0', tasks: [task] };
  const parsed = parseGraph(value);
  if (!parsed.ok) throw taskErrors.GRAPH_INVALID({ file: 'the question to the agent', problems: parsed.problems });
  return { graph: parsed.graph, graphText: JSON.stringify(value), warnings: [] };
}

async function answerIn(state: RunState, { feature, files }: Question, project: Project): Promise<Answer> {
  const task = state.tasks[TASK];
  const { commit = null } = task ?? {};
  if (commit === null) {
    const last = task?.attempts.at(-1);
    throw agentErrors.AGENT_GAVE_NO_ANSWER({
      feature,
      outcome: last?.outcome ?? state.status,
      reason: last?.detail ?? state.cause ?? 'the run was stopped',
      attempts: task?.attempts.length ?? 0,
    });
  }
  const read = files.map(async (file) => {
    const most = file.endsWith('.md') ? LARGEST_DOCUMENT : LARGEST_GRAPH;
    return [file, fileOf(await project.repository.textAt(commit, file, most), most)] as const;
  });
  const found = new Map(await Promise.all(read));
  return (file) => found.get(file) ?? MISSING;
}

const MISSING: AnsweredFile = { text: '', fault: 'was not written' };

/** `null`: it is no file, or too long. */
function fileOf(text: string | null | undefined, most: number): AnsweredFile {
  if (text === undefined) return MISSING;
  if (text === null) return { text: '', fault: `is a folder, or has more than ${inBytes(most)}` };
  return /[\0\uFFFD]/.test(text) ? { text: '', fault: 'is not text in UTF-8' } : { text, fault: null };
}

/** Removes what this question, or one like it that was broken off, has left. */
async function clear({ feature }: Question, { project, host }: Asking): Promise<void> {
  const store = project.store(feature);
  const cleaning = { project, store, feature, caches: false, env: host.env };
  const plan = await planCleaning(cleaning, false);
  await checkCleaning(cleaning, plan);
  checkIsQuestion(await store.read(), feature, plan);
  await removeRun(cleaning, plan).catch((error: unknown) => {
    if (!hasCode(error, projectErrors.CLEANUP_OUTDATED)) throw error;
  });
}

/** An error here is not thrown: the answer, or the error that has ended the run, counts more. The next question tells it. */
async function clearAtEnd(question: Question, asking: Asking): Promise<void> {
  await clear(question, asking).catch(() => undefined);
}

/** Names that are kept for questions could be given to features once. */
function checkIsQuestion(state: RunState | undefined, run: string, { refs }: CleaningPlan): void {
  const tasks = state === undefined ? [] : Object.keys(state.tasks);
  const isQuestion = state === undefined ? refs.length === 0 : tasks.length === 1 && tasks[0] === TASK;
  if (!isQuestion) throw planningErrors.PLANNING_NAME_TAKEN({ run });
}
