import { inSeconds } from '../lib/index.ts';
import type { AgentEnd, AgentLimits, AgentVerdict } from './agent.ts';

/** The verdict when one of our limits ended the agent; null when it ended by itself. */
export function limitVerdict(end: AgentEnd, limits: AgentLimits, output: string): AgentVerdict | null {
  if (end.endedBy === 'total') {
    const limit = inSeconds(limits.totalMs);
    return failure('timed-out', `still at work after ${limit}, limit ${limit}`, output);
  }
  if (end.endedBy === 'idle') {
    const limit = inSeconds(limits.idleMs);
    return failure('idle', `no output for ${limit}, limit ${limit}`, output);
  }
  return null;
}

type TaskFailure = Extract<AgentVerdict['outcome'], 'agent-failed' | 'timed-out' | 'idle'>;

/** A failure of the attempt itself; the next attempt sees the last output. */
export function failure(outcome: TaskFailure, detail: string, output: string): AgentVerdict {
  const feedback = output === '' ? `${detail}\nIt printed nothing.` : `${detail}\nIts last output:\n${output}`;
  return { outcome, detail, feedback, resetAt: null };
}

export function verified(detail: string): AgentVerdict {
  return { outcome: 'verified', detail, feedback: '', resetAt: null };
}

export function exitWords(code: number | null): string {
  return code === null ? 'ended by a signal' : `exit status ${code}`;
}
