import { inSeconds } from '../lib/index.ts';
import type { Block, ClaudeEvent, ClaudeResult } from './claude-stream.ts';
import { oneLine, SHORT, spoken, toolWords } from './log-words.ts';

/** The lines that the log shows for an event: the agent's words, its tools, errors. */
export function logLines(event: ClaudeEvent, cwd: string): readonly string[] {
  if (event.type === 'assistant') return event.message.content.flatMap((block) => spokenLines(block, cwd));
  if (event.type === 'user') return event.message.content.flatMap(toolErrors);
  if (event.type === 'result' && event.subtype !== 'success') return [`Error: ${resultWords(event)}`];
  if (event.type === 'system' && event.subtype === 'api_retry') return [retryWords(event)];
  return [];
}

/** The result in one line. */
export function resultWords(result: ClaudeResult): string {
  const reason = result.errors.length > 0 ? result.errors.join('; ') : result.result;
  return oneLine(result.subtype === 'success' ? reason : `${result.subtype}: ${reason}`);
}

type Retry = Extract<ClaudeEvent, { subtype: 'api_retry' }>;

/** A request that was refused and is sent again. */
export function retryWords(retry: Retry): string {
  const status = retry.error_status === null ? '' : `${retry.error_status} `;
  return `API error ${status}${retry.error}: retry ${retry.attempt} of ${retry.max_retries} in ${inSeconds(retry.retry_delay_ms)}`;
}

/** No answer, or the answer of a proxy: the egress proxy answers 502 when a request is refused or its target not reached. */
const NOT_THE_MODEL: readonly (number | null)[] = [null, 502, 504];

/** The text is the same for each try, so that it is shown once. */
export function retryTrouble({ error, error_status: status }: Retry): string {
  const what = NOT_THE_MODEL.includes(status) ? 'the model cannot be reached' : 'requests to the model fail';
  const kind = oneLine(`${status ?? ''} ${error === 'unknown' ? '' : error}`, SHORT);
  return `${what}${kind === '' ? '' : ` (${kind})`}; Claude Code tries again`;
}

function spokenLines(block: Block, cwd: string): readonly string[] {
  if (block.type === 'text') return spoken(block.text);
  if (block.type === 'tool_use') return [toolWords(block.name, block.input, cwd)];
  return [];
}

function toolErrors(block: Block): readonly string[] {
  if (block.type !== 'tool_result' || !block.is_error || typeof block.content !== 'string') return [];
  const words = block.content.replaceAll(/<\/?tool_use_error>/g, '');
  return [`Tool error: ${oneLine(words, SHORT)}`];
}
