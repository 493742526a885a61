import { agentErrors } from '../agents/errors.ts';
import type { Config } from '../config/index.ts';
import { hasCode } from '../lib/index.ts';
import { ANSWERS } from '../planning/index.ts';
import { askAgent } from './ask-agent.ts';
import { planningName } from './planning-name.ts';
import type { Project } from './project.ts';
import type { RunFace, RunHost } from './run-face.ts';

const FILE = `${ANSWERS}/probe.txt`;
const PROMPT = `Write the word "ready" to the file ${FILE}, and do nothing else.`;
/** For the whole of it: a model that is asked for one word answers within seconds. */
const LONGEST_MS = 3 * 60_000;

interface Probe {
  readonly project: Project;
  /** From settings that the user has approved. */
  readonly config: Config;
  readonly agent: string;
}

/** What one real request of an agent has shown. */
export interface ProbeVerdict {
  readonly works: boolean;
  /** In words. */
  readonly said: string;
}

/** Asks the agent for one word, as the worker of a task: with the same mode, credentials and network. It costs a few tokens. */
export async function probeAgent(
  { project, config, agent }: Probe,
  host: RunHost,
  face: RunFace,
): Promise<ProbeVerdict> {
  const once: Config = {
    ...config,
    retry: { ...config.retry, attempts: 1 },
    workers: { ...config.workers, task_timeout: LONGEST_MS, idle_timeout: LONGEST_MS },
  };
  const question = { feature: planningName('doctor'), title: 'Probe of an agent', prompt: PROMPT };
  const wishes = { agent, mode: config.workers.mode, maxMs: LONGEST_MS };
  try {
    const answer = await askAgent({ ...question, files: [FILE] }, { project, config: once, wishes, host, face });
    if (answer(FILE).fault === null) return { works: true, said: 'its model has answered, and it has written a file' };
    return { works: false, said: 'it has ended well, and has not written the file that it was asked for' };
  } catch (error) {
    if (!hasCode(error, agentErrors.AGENT_GAVE_NO_ANSWER)) throw error;
    return { works: false, said: inWords(error.facts) };
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  credentials: 'its key or login was refused',
  'usage-limit': 'its account has reached a limit',
  'rate-limited': 'its provider is busy, or asks it to slow down',
  'timed-out': 'it gave no answer in time',
  idle: 'it gave no answer in time',
  'no-change': 'it has ended, and has not written the file that it was asked for',
};

/** Pure. */
function inWords({ outcome, reason }: { readonly outcome: string; readonly reason: string }): string {
  const meaning = MEANINGS[outcome];
  return meaning === undefined ? `${outcome}: ${reason}` : `${meaning}: ${reason}`;
}
