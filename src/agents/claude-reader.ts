import type { AgentLimits, AgentReader } from './agent.ts';
import { logLines, oneLine, resultWords, retryTrouble, retryWords } from './claude-log.ts';
import { parseLine } from './claude-stream.ts';
import type { ClaudeEvent } from './claude-stream.ts';
import { resetAt } from './claude-trouble.ts';
import { usageMeter } from './claude-usage.ts';
import { judge } from './claude-verdict.ts';
import type { Told } from './claude-verdict.ts';
import { outputTail } from './output-tail.ts';

export function readClaude(limits: AgentLimits): AgentReader {
  const usage = usageMeter();
  const shown = outputTail();
  let told: Told = { cwd: '', complaint: null, retrying: null, accountLimit: null, result: null, plainText: '' };

  const plain = (line: string): readonly string[] => {
    if (line.trim() === '') return [];
    told = { ...told, plainText: oneLine(line) };
    return shown.add([line]);
  };
  return {
    stdout(line) {
      const event = parseLine(line);
      if (event === null) return [];
      if (typeof event === 'string') return plain(event);
      told = learn(told, event);
      usage.add(event);
      return shown.add(logLines(event, told.cwd));
    },
    stderr: plain,
    report: () => ({ usage: usage.total(), finished: told.result !== null, trouble: told.retrying }),
    verdict: (end) => judge(told, end, limits, shown.text()),
  };
}

function learn(told: Told, event: ClaudeEvent): Told {
  if (event.type === 'assistant') return heard(told, event);
  if (event.type === 'result') return { ...told, result: event, complaint: complaintAtEnd(told, event) };
  if (event.type === 'rate_limit_event') return { ...told, accountLimit: accountLimitIn(event) };
  if (event.type === 'user') return told;
  if (event.subtype === 'init') return { ...told, cwd: event.cwd };
  const complaint = { error: event.error, status: event.error_status, text: retryWords(event) };
  return { ...told, complaint, retrying: retryTrouble(event) };
}

/** An answer of the model ends all earlier trouble with reaching it. */
function heard(told: Told, event: Extract<ClaudeEvent, { type: 'assistant' }>): Told {
  if (event.error === undefined) return { ...told, complaint: null, retrying: null };
  const text = oneLine(event.message.content.map((block) => block.text).join(' '));
  return { ...told, complaint: { error: event.error, text } };
}

/** After an API error the result is a "success" with `is_error`; the other subtypes are failures of the agent. */
function complaintAtEnd(told: Told, result: Extract<ClaudeEvent, { type: 'result' }>): Told['complaint'] {
  if (!result.is_error || result.subtype !== 'success') return told.complaint;
  return { error: told.complaint?.error, status: result.api_error_status, text: resultWords(result) };
}

function accountLimitIn({
  rate_limit_info: info,
}: Extract<ClaudeEvent, { type: 'rate_limit_event' }>): Told['accountLimit'] {
  if (info.status !== 'rejected' || info.isUsingOverage) return null;
  return { resetAt: info.resetsAt === undefined ? null : resetAt(info.resetsAt) };
}
