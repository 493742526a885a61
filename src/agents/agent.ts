import type { Environment } from '../lib/index.ts';
import type { Limits, Outcome, Usage } from '../protocol/index.ts';

/** How to start the program that does a task's thinking. The prompt goes in on stdin where it can: argv is limited and public. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly input: string;
  /** Added to the worker's own environment. */
  readonly env: Environment;
}

/** What an agent's output has told so far. */
interface AgentReport {
  readonly usage: Usage | null;
  /** The agent has said its last word; what remains is for its process to end. */
  readonly finished: boolean;
  /** Why it waits for its model, in one line that is the same for as long as the cause is; null when it does not. */
  readonly trouble: string | null;
}

export interface AgentEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Which of our limits ended it, if one did. */
  readonly endedBy: 'itself' | 'total' | 'idle' | 'completion';
}

export interface AgentVerdict {
  /** `verified` here means: the agent says it is done; the worker still checks. */
  readonly outcome: Extract<
    Outcome,
    'verified' | 'agent-failed' | 'timed-out' | 'idle' | 'rate-limited' | 'usage-limit' | 'credentials'
  >;
  readonly detail: string;
  readonly feedback: string;
  readonly resetAt: string | null;
}

/** Reads one attempt's output as it streams and judges it at the end. One reader per attempt. */
export interface AgentReader {
  /** One line of stdout. Returns what people should see of it in the log; nothing for noise. */
  stdout(line: string): readonly string[];
  stderr(line: string): readonly string[];
  report(): AgentReport;
  verdict(end: AgentEnd): AgentVerdict;
}

export type AgentLimits = Pick<Limits, 'totalMs' | 'idleMs'>;

interface AgentTask {
  readonly run: string | null;
  /** Where the worker keeps the prompt as a file, outside the worktree: for programs that read one, and for people. */
  readonly promptFile: string;
}

export interface Agent {
  command(prompt: string, task: AgentTask): AgentCommand;
  read(limits: AgentLimits): AgentReader;
}
