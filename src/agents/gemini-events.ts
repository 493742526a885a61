import * as z from 'zod/mini';
import { catch as otherwise } from 'zod/mini';
import { NO_USAGE } from '../protocol/index.ts';
import type { Usage } from '../protocol/index.ts';
import { parseEvent } from './event-line.ts';
import { oneLine, SHORT, spoken, toolWords } from './log-words.ts';
import { retryWords, statusIn } from './model-trouble.ts';
import type { StreamNews } from './stream-reader.ts';

// Every version of the CLI adds events and fields. Here is what we read, optional where possible; the rest is ignored.

const text = otherwise(z.string(), '');
const tokens = otherwise(z.number(), 0);
const error = z.object({ type: text, message: text });

const stats = z.object({ input_tokens: tokens, output_tokens: tokens, cached: tokens, tool_calls: tokens });

const geminiEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('message'), role: text, content: text }),
  z.object({
    type: z.literal('tool_use'),
    tool_name: text,
    parameters: otherwise(z.record(z.string(), z.unknown()), {}),
  }),
  z.object({
    type: z.literal('tool_result'),
    status: text,
    output: text,
    error: otherwise(z.optional(error), undefined),
  }),
  z.object({ type: z.literal('error'), severity: text, message: text }),
  z.object({
    type: z.literal('result'),
    status: text,
    error: otherwise(z.optional(error), undefined),
    stats: otherwise(z.optional(stats), undefined),
  }),
]);
type GeminiEvent = z.infer<typeof geminiEvent>;

/** A line of `gemini --output-format stream-json`. */
export function readGeminiLine(line: string): StreamNews | string | null {
  const event = parseEvent<GeminiEvent>(geminiEvent, line);
  return event === null || typeof event === 'string' ? event : newsOf(event);
}

/** A line of stderr: there it says that a request is sent again, with the place in its program at which the request failed. */
export function readGeminiComplaint(line: string): StreamNews | string | null {
  if (/^\s+at /.test(line)) return null;
  if (!/^Attempt \d+ failed/.test(line)) return line;
  const words = oneLine(line);
  const complaint = complaintOf(words);
  return { shown: [words], complaint, trouble: retryWords(complaint, 'Gemini CLI') };
}

function newsOf(event: GeminiEvent): StreamNews | null {
  switch (event.type) {
    case 'message': {
      if (event.role !== 'assistant') return null;
      return { shown: spoken(event.content), complaint: null, trouble: null };
    }
    case 'tool_use':
      return { shown: [toolWords(event.tool_name, event.parameters)], complaint: null, trouble: null };
    case 'tool_result':
      return event.status === 'error'
        ? { shown: [`Tool error: ${oneLine(event.error?.message ?? event.output, SHORT)}`] }
        : null;
    case 'error': {
      const words = oneLine(event.message);
      return { shown: [`Error: ${words}`], ...(event.severity === 'error' ? { complaint: complaintOf(words) } : {}) };
    }
    case 'result':
      return newsOfResult(event);
  }
}

const complaintOf = (words: string) => ({ status: statusIn(words), text: words });

function newsOfResult({ status, error: failure, stats: counts }: Extract<GeminiEvent, { type: 'result' }>): StreamNews {
  const used = counts === undefined ? {} : { used: usageOf(counts) };
  if (status === 'success') return { ...used, result: { done: 'done' } };
  const words = oneLine(failure?.message ?? 'it has failed, and does not say why');
  return { ...used, shown: [`Error: ${words}`], complaint: complaintOf(words), result: 'failed' };
}

/** What was read from a cache is part of the input there. */
function usageOf({ input_tokens: input, output_tokens: output, cached }: z.infer<typeof stats>): Usage {
  return { ...NO_USAGE, inputTokens: Math.max(0, input - cached), cacheReadTokens: cached, outputTokens: output };
}
