import type { Environment } from '../lib/index.ts';
import type { Limits, Outcome, Usage } from '../protocol/index.ts';

/** How to start an agent. The prompt goes to stdin where possible: an argument is limited in size and visible to other users. */
export interface AgentCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly input: string;
  /** Added to the worker's own environment. */
  readonly env: Environment;
}

/** What the agent's output has shown so far. */
interface AgentReport {
  readonly usage: Usage | null;
  /** The agent has given its result; its process has not ended yet. */
  readonly finished: boolean;
  /** Why it waits for its model, in one line that does not change while the cause is the same; null when it does not wait. */
  readonly trouble: string | null;
  /** Its credentials are refused, again and again. */
  readonly refused?: boolean;
}

export interface AgentEnd {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** Which of our limits ended it, if one did. */
  readonly endedBy: 'itself' | 'total' | 'idle' | 'completion';
}

export interface AgentVerdict {
  /** Here `verified` means that the agent says it is done; the worker checks it after that. */
  readonly outcome: Extract<
    Outcome,
    'verified' | 'agent-failed' | 'timed-out' | 'idle' | 'rate-limited' | 'usage-limit' | 'credentials'
  >;
  readonly detail: string;
  readonly feedback: string;
  readonly resetAt: string | null;
}

/** Reads the output of one attempt line by line, and judges it at the end. */
export interface AgentReader {
  /** Takes one line of stdout. Returns the lines that the log shows for it, if any. */
  stdout(line: string): readonly string[];
  stderr(line: string): readonly string[];
  report(): AgentReport;
  verdict(end: AgentEnd): AgentVerdict;
}

export type AgentLimits = Pick<Limits, 'totalMs' | 'idleMs'>;

interface AgentTask {
  readonly run: string | null;
  /** The prompt as a file outside the worktree, for programs that read one, and for people. */
  readonly promptFile: string;
}

export interface Agent {
  /** Variables that name the folder of its configuration, where a worker gives it one of its own. */
  readonly home: readonly string[];
  command(prompt: string, task: AgentTask): AgentCommand;
  read(limits: AgentLimits): AgentReader;
}
