import type { Prices } from '../protocol/index.ts';
import type { AgentLimits, AgentReader } from './agent.ts';
import { logLines, resultWords, retryTrouble, retryWords } from './claude-log.ts';
import { parseLine } from './claude-stream.ts';
import type { ClaudeEvent } from './claude-stream.ts';
import { resetAt, troubleOf } from './claude-trouble.ts';
import { usageMeter } from './claude-usage.ts';
import { judge } from './claude-verdict.ts';
import type { Seen } from './claude-verdict.ts';
import { oneLine } from './log-words.ts';
import { outputTail } from './output-tail.ts';

export function readClaude(limits: AgentLimits, prices: Prices): AgentReader {
  const usage = usageMeter(prices);
  const shown = outputTail();
  let seen: Seen = { cwd: '', complaint: null, retrying: null, accountLimit: null, result: null, plainText: '' };
  let refused = false;

  const plain = (line: string): readonly string[] => {
    if (line.trim() === '') return [];
    seen = { ...seen, plainText: oneLine(line) };
    return shown.add([line]);
  };
  return {
    stdout(line) {
      const event = parseLine(line);
      if (event === null) return [];
      if (typeof event === 'string') return plain(event);
      seen = withEvent(seen, event);
      refused = isRefusedAgain(seen, event);
      const remarks = usage.add(event);
      return shown.add([...logLines(event, seen.cwd), ...remarks]);
    },
    stderr: plain,
    report: () => ({
      usage: usage.total(),
      finished: seen.result !== null,
      trouble: seen.retrying,
      ...(refused ? { refused } : {}),
    }),
    verdict: (end) => judge(seen, end, limits, shown.text()),
  };
}

function withEvent(seen: Seen, event: ClaudeEvent): Seen {
  if (event.type === 'assistant') return withAnswer(seen, event);
  if (event.type === 'result') return { ...seen, result: event, complaint: complaintAtEnd(seen, event) };
  if (event.type === 'rate_limit_event') return { ...seen, accountLimit: accountLimitIn(event) };
  if (event.type === 'user') return seen;
  if (event.type === 'stream_event') return { ...seen, complaint: null, retrying: null };
  if (event.subtype === 'init') return { ...seen, cwd: event.cwd };
  const complaint = { error: event.error, status: event.error_status, text: retryWords(event) };
  return { ...seen, complaint, retrying: retryTrouble(event) };
}

/** After the first refusal the CLI renews a login that has expired. A key that is refused twice stays refused. */
function isRefusedAgain({ complaint }: Seen, event: ClaudeEvent): boolean {
  const isRetry = event.type === 'system' && event.subtype === 'api_retry';
  return isRetry && event.attempt > 1 && complaint?.status === 401 && troubleOf(complaint) === 'credentials';
}

/** An answer of the model ends all earlier trouble with reaching it. */
function withAnswer(seen: Seen, event: Extract<ClaudeEvent, { type: 'assistant' }>): Seen {
  if (event.error === undefined) return { ...seen, complaint: null, retrying: null, plainText: '' };
  const text = oneLine(event.message.content.map((block) => block.text).join(' '));
  return { ...seen, complaint: { error: event.error, text } };
}

/** After an API error the result is a "success" with `is_error`; the other subtypes are failures of the agent. */
function complaintAtEnd(seen: Seen, result: Extract<ClaudeEvent, { type: 'result' }>): Seen['complaint'] {
  if (!result.is_error || result.subtype !== 'success') return seen.complaint;
  return { error: seen.complaint?.error, status: result.api_error_status, text: resultWords(result) };
}

function accountLimitIn({
  rate_limit_info: info,
}: Extract<ClaudeEvent, { type: 'rate_limit_event' }>): Seen['accountLimit'] {
  if (info.status !== 'rejected' || info.isUsingOverage) return null;
  return { resetAt: info.resetsAt === undefined ? null : resetAt(info.resetsAt) };
}
