import * as z from 'zod/mini';
import { catch as otherwise } from 'zod/mini';
import type { Usage } from '../protocol/index.ts';
import { parseEvent } from './event-line.ts';
import { oneLine, SHORT, spoken } from './log-words.ts';
import { retryWords, statusIn } from './model-trouble.ts';
import type { Complaint } from './model-trouble.ts';
import type { StreamNews } from './stream-reader.ts';

// Every version of the CLI adds events and fields. Here is what we read, optional where possible; the rest is ignored.

const text = otherwise(z.string(), '');
const tokens = otherwise(z.number(), 0);

const item = z.object({
  type: z.string(),
  text,
  message: text,
  command: text,
  aggregated_output: text,
  exit_code: otherwise(z.nullable(z.number()), null),
  query: text,
  server: text,
  tool: text,
  changes: otherwise(z.array(z.object({ path: text, kind: text })), []),
});
type Item = z.infer<typeof item>;

/** What was read from a cache, or written to it, is part of the input. */
const usage = z.object({
  input_tokens: tokens,
  cached_input_tokens: tokens,
  cache_write_input_tokens: tokens,
  output_tokens: tokens,
});

const codexEvent = z.union([
  z.object({ type: z.enum(['item.started', 'item.completed']), item }),
  z.object({
    type: z.literal('turn.completed'),
    usage,
  }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: text }) }),
  z.object({ type: z.literal('error'), message: text }),
]);
type CodexEvent = z.infer<typeof codexEvent>;

/** A line of `codex exec --json`. */
export function readCodexLine(line: string): StreamNews | string | null {
  const event = parseEvent<CodexEvent>(codexEvent, line);
  return event === null || typeof event === 'string' ? event : newsOf(event);
}

function newsOf(event: CodexEvent): StreamNews | null {
  switch (event.type) {
    case 'item.started':
      return event.item.type === 'command_execution' ? { shown: [`Shell ${short(event.item.command)}`] } : null;
    case 'item.completed':
      return newsOfItem(event.item);
    case 'turn.completed':
      return { used: usageOf(event.usage), result: { done: 'done' } };
    case 'turn.failed':
      return { complaint: complaintOf(event.error.message), result: 'failed' };
    case 'error':
      return newsOfError(event.message);
  }
}

const short = (words: string): string => oneLine(words, SHORT);

function newsOfItem(done: Item): StreamNews | null {
  switch (done.type) {
    case 'agent_message':
      return { shown: spoken(done.text), complaint: null, trouble: null };
    case 'command_execution':
      return done.exit_code === 0 || done.exit_code === null
        ? { complaint: null, trouble: null }
        : {
            shown: [`Shell error: exit status ${done.exit_code}: ${short(done.aggregated_output)}`],
            complaint: null,
            trouble: null,
          };
    case 'file_change':
      return { shown: done.changes.map(({ path, kind }) => `${kind} ${short(path)}`), complaint: null, trouble: null };
    case 'mcp_tool_call':
      return { shown: [short(`${done.server} ${done.tool}`)] };
    case 'web_search':
      return { shown: [`Search ${short(done.query)}`] };
    default:
      return null;
  }
}

/** A request that is sent again, or the reason why none is. */
function newsOfError(message: string): StreamNews {
  const shown = [`Error: ${oneLine(message)}`];
  const complaint = complaintOf(message);
  if (!/^reconnecting/i.test(message)) return { shown, complaint };
  return { shown, complaint, trouble: retryWords(complaint, 'Codex') };
}

const complaintOf = (message: string): Complaint => ({ status: statusIn(message), text: oneLine(message) });

function usageOf(counts: z.infer<typeof usage>): Usage {
  const { input_tokens: input, cached_input_tokens: read, cache_write_input_tokens: written } = counts;
  return {
    inputTokens: Math.max(0, input - read - written),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: counts.output_tokens,
    costUsd: null,
  };
}
