import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildPrompt, createAgent } from '../agents/index.ts';
import type { Agent, AgentReader } from '../agents/index.ts';
import { isVanished } from '../git/index.ts';
import { createLineSplitter, repeated } from '../lib/index.ts';
import {
  ALREADY_DONE,
  asksAgent,
  commitMessage,
  IF_SATISFIED,
  isKnownAgent,
  nothingChanged,
  TEXT_LIMIT,
  TROUBLE_LIMIT,
} from '../protocol/index.ts';
import type { TaskAssignment, TaskResult } from '../protocol/index.ts';
import { supervise } from '../supervise/index.ts';
import { foreignPaths, ownedFiles } from '../tasks/index.ts';
import { withAgentHome } from './agent-home.ts';
import { LEASE_LOST } from './context.ts';
import type { WorkerContext } from './context.ts';
import { limitsInWords } from './limits-in-words.ts';
import type { WorkerLog } from './log.ts';
import { runShell } from './shell-step.ts';
import type { WorktreeSetup } from './worktree-setup.ts';

/** An event of an agent is one line that may have whole files in it; a cut line could not be read. */
const EVENT_LIMIT = 16 * 1024 * 1024;

type Judgement = Pick<TaskResult, 'outcome' | 'detail' | 'feedback'> & { readonly resetAt?: string | null };

/** With the limits of its container that the agent has met, in words. */
type AgentJudgement = Judgement & { readonly trouble?: string | undefined };

interface Attempt {
  readonly context: WorkerContext;
  readonly setup: WorktreeSetup;
  readonly assignment: TaskAssignment;
  readonly log: WorkerLog;
}

/** One attempt at one task: prepares the worktree, runs the agent, commits its work, verifies it and reports. */
export async function runAttempt(
  context: WorkerContext,
  setup: WorktreeSetup,
  assignment: TaskAssignment,
): Promise<TaskResult> {
  const { attempt, base, fresh, task, limits } = assignment;
  const log = context.log.about(task.id, attempt);
  log.line('worker', `${task.id} begins: ${task.title} (attempt ${attempt})`);
  await setup.prepare({ base, fresh });
  const own: Attempt = { context, setup, assignment, log };
  const agent = createAgent(agentSpecOf(assignment), assignment.prices);
  const reader = agent.read(limits);
  const { trouble, ...reported } = context.stop.aborted ? stoppedEarly(context) : await runAgent(own, agent, reader);
  const work = await commitWork(own);
  const judgement = withTrouble(reported.outcome === 'verified' ? await check(own, work, reported) : reported, trouble);
  log.line('worker', `${task.id} ends: ${judgement.outcome} — ${judgement.detail}`);
  return {
    kind: 'task',
    attempt,
    outcome: judgement.outcome,
    detail: judgement.detail.slice(0, TEXT_LIMIT),
    feedback: judgement.feedback.slice(-TEXT_LIMIT),
    commit: work.commit,
    usage: reader.report().usage,
    resetAt: judgement.resetAt ?? null,
  };
}

function agentSpecOf({ task, agent }: TaskAssignment): TaskAssignment['agent'] {
  return task.run === null ? agent : { kind: 'shell' };
}

async function runAgent(
  { context, assignment, log }: Attempt,
  agent: Agent,
  reader: AgentReader,
): Promise<AgentJudgement> {
  const { task, limits } = assignment;
  const access = asksAgent(assignment) ? await context.credentials?.take(assignment.attempt, context.stop) : undefined;
  if (access === 'none') return withoutCredentials(context);
  const prompt = buildPrompt(task, assignment.feedback);
  await writeFile(context.promptFile, prompt);
  const command = agent.command(prompt, { run: task.run, promptFile: context.promptFile });
  await context.reporter.update({ phase: 'running', usage: null, trouble: null });
  const { stdout, stderr } = listenTo(reader, agentSpecOf(assignment), context, log);
  const given = access === undefined ? undefined : { agent: access, names: agent.home };
  const end = await withAgentHome(context.agentHome, given, (own) =>
    supervise(command.file, command.args, {
      cwd: context.workspace.folder,
      env: { ...context.env, ...own, ...command.env, MAHABHARATHA_TASK: task.id },
      input: command.input,
      onStdout: stdout.push,
      onStderr: stderr.push,
      totalMs: limits.totalMs,
      idleMs: limits.idleMs,
      completion: { ms: limits.completionMs, reached: () => reader.report().finished },
      hopeless: () => reader.report().refused === true,
      graceMs: context.boot.stopGraceMs,
      stop: context.stop,
    }),
  );
  stdout.end();
  stderr.end();
  log.sumUp();
  if (end.endedBy === 'stopped') return stoppedEarly(context);
  const verdict = reader.verdict({ code: end.code, endedBy: end.endedBy });
  return { ...verdict, trouble: limitsInWords(end.exceeded) };
}

/** The feedback says so, too: the next attempt may work in smaller pieces. */
function withTrouble(judgement: Judgement, trouble: string | undefined): Judgement {
  if (trouble === undefined) return judgement;
  const feedback = `${judgement.feedback}\nDuring this attempt ${trouble}.`.trim();
  return { ...judgement, detail: `${judgement.detail}; ${trouble}`, feedback };
}

type Lines = ReturnType<typeof createLineSplitter>;

/**
 * Logs what the agent prints as it comes, and reports its usage and its trouble with the model. Secrets go before the reader
 * cuts lines: of a secret that is cut, nothing would know the rest.
 */
function listenTo(
  reader: AgentReader,
  agent: TaskAssignment['agent'],
  context: WorkerContext,
  log: WorkerLog,
): { stdout: Lines; stderr: Lines } {
  const show = (lines: readonly string[]): void => lines.forEach((line) => log.line('agent', line));
  let reported = '';
  const limit = isKnownAgent(agent) ? EVENT_LIMIT : undefined;
  const stdout = createLineSplitter((line) => {
    show(reader.stdout(context.redact(line)));
    const { usage, trouble } = reader.report();
    const news = { usage, trouble: trouble?.slice(0, TROUBLE_LIMIT) ?? null };
    if (JSON.stringify(news) === reported) return;
    reported = JSON.stringify(news);
    void context.reporter.update(news);
  }, limit);
  return { stdout, stderr: createLineSplitter((line) => show(reader.stderr(context.redact(line)))) };
}

interface Work {
  readonly commit: string | null;
  /** Files that the task declares and that exist, but are not in the commit. */
  readonly leftOut: readonly string[];
}

/** The attempt's work as one commit, also when it failed or was stopped: work that was paid for is kept. */
function commitWork(attempt: Attempt): Promise<Work> {
  // A `git prune` in the repository removes objects that are in no commit yet.
  return repeated((round) => commitOnce(attempt, round > 1), isVanished);
}

async function commitOnce({ context, setup, assignment }: Attempt, afresh: boolean): Promise<Work> {
  const { workspace, boot, bundle } = context;
  const { branch } = boot;
  const { base, task } = assignment;
  const declared = new Set(ownedFiles(task).map((file) => path.normalize(file)));
  const { paths, files } = setup.leftovers;
  // A file that a task names belongs to it, also when the set-up has made it before.
  const others = new Set([...files].filter((file) => !declared.has(file)));
  const owned = (found: readonly string[]): string[] => {
    const foreign = new Set(foreignPaths({ files: task }, found));
    return found.filter((file) => !foreign.has(file));
  };
  const tree = await workspace.stage({ base, branch, left: { paths, files: others }, owned, afresh });
  const leftOut = await workspace.leftOut(tree, task.create);
  if (tree === (await workspace.treeOf(base))) return { commit: null, leftOut };
  const message = commitMessage(task, assignment.attempt, boot);
  // In a git directory of the worker's own only a verification sees the branch.
  const moved = bundle === null || assignment.verify ? branch : null;
  const commit = await workspace.commit({ base, tree, message, branch: moved });
  if (bundle !== null) await workspace.bundle({ branch, base, commit, file: bundle });
  return { commit, leftOut };
}

/**
 * The work is committed before: files that a verification writes (coverage, snapshots) are no change of the task. A task
 * that declares no files is a check, and may change nothing, as may one whose work may be there already.
 */
async function check({ context, assignment, log }: Attempt, work: Work, reported: Judgement): Promise<Judgement> {
  const { verification, satisfied } = assignment.task;
  const declared = ownedFiles(assignment.task);
  const isEmpty = work.commit === null && declared.length > 0;
  if (work.leftOut.length > 0) {
    const detail = `${work.leftOut.join(', ')} was written but is not in the commit: .gitignore covers it; declare another path or change .gitignore`;
    return { outcome: 'no-change', detail, feedback: detail };
  }
  if (isEmpty && !satisfied) {
    const what = nothingChanged(declared);
    const feedback = `${what}. What was reported at the end: ${reported.detail}`;
    return { outcome: 'no-change', detail: `${what}; ${IF_SATISFIED}`, feedback };
  }
  if (verification === null) return { ...reported, detail: `${reported.detail}; there is no verification` };
  if (!assignment.verify) return reported;
  await context.reporter.update({ phase: 'verifying' });
  const { command, timeoutMs } = verification;
  const result = await runShell(context, { source: 'verify', command, timeoutMs, log });
  if (result.stopped) return stoppedEarly(context);
  if (result.ok) return { ...reported, detail: `${isEmpty ? `${ALREADY_DONE}; ` : ''}verified by: ${command}` };
  const detail = `the verification "${command}" failed: ${result.detail}`;
  const feedback = `${detail}\nIts output:\n${result.output}\n${reported.feedback}`.trimEnd();
  return { outcome: 'verification-failed', detail, feedback };
}

/** Its orchestrator is gone, or cannot reach this worker any more: another worker does the task. */
function withoutCredentials(context: WorkerContext): Judgement {
  if (context.stop.aborted) return stoppedEarly(context);
  return { outcome: 'orphaned', detail: 'the credentials for its agent did not come', feedback: '' };
}

/** `interrupted` may be the task's own doing; `orphaned` never is. */
function stoppedEarly({ stop }: WorkerContext): AgentJudgement {
  const outcome = stop.reason === LEASE_LOST ? 'orphaned' : 'interrupted';
  return { outcome, detail: 'stopped before it was done', feedback: '' };
}
