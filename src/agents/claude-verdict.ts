import { counted } from '../lib/index.ts';
import type { AgentEnd, AgentLimits, AgentVerdict } from './agent.ts';
import { resultWords } from './claude-log.ts';
import type { ClaudeResult } from './claude-stream.ts';
import { resetIn, troubleOf } from './claude-trouble.ts';
import type { Complaint } from './claude-trouble.ts';
import type { Trouble } from './model-trouble.ts';
import { exitWords, failure, limitVerdict, verified } from './ending.ts';

/** What the stream has shown so far. */
export interface Seen {
  readonly cwd: string;
  /** The API's last refusal; null again as soon as the model answers. */
  readonly complaint: Complaint | null;
  /** Why a request is sent again, in words; null as soon as the model answers. */
  readonly retrying: string | null;
  /** The account's usage limit, while it is used up. */
  readonly accountLimit: { readonly resetAt: string | null } | null;
  readonly result: ClaudeResult | null;
  /** The last line since the model has answered that was not an event. */
  readonly plainText: string;
}

export function judge(seen: Seen, end: AgentEnd, limits: AgentLimits, output: string): AgentVerdict {
  const { result } = seen;
  if (result !== null && isSuccess(result) && endedWell(end)) return verified(`done in ${turns(result)}`);
  return (
    troubleVerdict(seen) ??
    limitVerdict(end, limits, output) ??
    failure('agent-failed', failureWords(seen, end), output)
  );
}

function isSuccess(result: ClaudeResult): boolean {
  return result.subtype === 'success' && !result.is_error;
}

/** The CLI sometimes hangs after its result, so it is no failure when a limit has ended it. */
function endedWell(end: AgentEnd): boolean {
  return end.code === 0 || end.endedBy !== 'itself';
}

function troubleVerdict(seen: Seen): AgentVerdict | null {
  const complaint = seen.complaint ?? (seen.result === null ? { text: seen.plainText } : null);
  const trouble = complaint === null ? null : troubleOf(complaint);
  if (complaint === null || trouble === null) return null;
  const outcome: Trouble = trouble === 'rate-limited' && seen.accountLimit !== null ? 'usage-limit' : trouble;
  const reset = outcome === 'usage-limit' ? (seen.accountLimit?.resetAt ?? resetIn(complaint.text)) : null;
  return { outcome, detail: complaint.text, feedback: '', resetAt: reset };
}

function failureWords({ result, plainText }: Seen, end: AgentEnd): string {
  if (result === null) return `no result, ${exitWords(end.code)}${plainText === '' ? '' : `: ${plainText}`}`;
  if (!isSuccess(result)) return resultWords(result);
  return `a result that says success, but ${exitWords(end.code)}`;
}

function turns(result: ClaudeResult): string {
  return counted(result.num_turns, 'turn');
}
