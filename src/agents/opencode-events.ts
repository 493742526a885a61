import * as z from 'zod/mini';
import { catch as otherwise } from 'zod/mini';
import type { Usage } from '../protocol/index.ts';
import { parseEvent } from './event-line.ts';
import { oneLine, SHORT, spoken, toolWords } from './log-words.ts';
import { retryWords, statusIn } from './model-trouble.ts';
import type { StreamNews } from './stream-reader.ts';

// Every version of the CLI adds events and fields. Here is what we read, optional where possible; the rest is ignored.

const text = otherwise(z.string(), '');
const amount = otherwise(z.number(), 0);

const toolState = z.object({
  status: text,
  input: otherwise(z.record(z.string(), z.unknown()), {}),
  error: text,
});

const opencodeEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), part: z.object({ text }) }),
  z.object({ type: z.literal('tool_use'), part: z.object({ tool: text, state: toolState }) }),
  z.object({
    type: z.literal('step_finish'),
    part: z.object({
      reason: text,
      cost: amount,
      tokens: z.object({
        input: amount,
        output: amount,
        reasoning: amount,
        cache: otherwise(z.object({ read: amount, write: amount }), { read: 0, write: 0 }),
      }),
    }),
  }),
  z.object({
    type: z.literal('error'),
    error: z.object({
      name: text,
      data: otherwise(z.object({ message: text, statusCode: otherwise(z.nullable(z.number()), null) }), {
        message: '',
        statusCode: null,
      }),
    }),
  }),
]);
type OpencodeEvent = z.infer<typeof opencodeEvent>;

/** A line of `opencode run --format json`. */
export function readOpencodeLine(line: string): StreamNews | string | null {
  const event = parseEvent<OpencodeEvent>(opencodeEvent, line);
  return event === null || typeof event === 'string' ? event : newsOf(event);
}

/** A line of its log, on stderr: there it says that a request has failed, which it sends again when that may help. */
export function readOpencodeLog(line: string): StreamNews | string | null {
  const [, said] = /\bmessage="stream error".*\berror\.error="((?:[^"\\]|\\.)*)"/.exec(line) ?? [];
  if (said === undefined) return line;
  const text = oneLine(said.replace(/^\w+: /, ''));
  const complaint = { status: statusIn(text), text };
  return { shown: [`Error: ${text}`], complaint, trouble: retryWords(complaint, 'OpenCode') };
}

const ANSWERED = { complaint: null, trouble: null };

function newsOf(event: OpencodeEvent): StreamNews {
  switch (event.type) {
    case 'text':
      return { shown: spoken(event.part.text), ...ANSWERED };
    case 'tool_use': {
      const { tool, state } = event.part;
      const failed = state.status === 'error' ? [`Tool error: ${oneLine(state.error, SHORT)}`] : [];
      return { shown: [toolWords(tool, state.input), ...failed], ...ANSWERED };
    }
    case 'step_finish':
      return {
        used: usageOf(event.part),
        ...ANSWERED,
        ...(event.part.reason === 'tool-calls' ? {} : endOf(event.part.reason)),
      };
    case 'error': {
      const { name, data } = event.error;
      const words = oneLine(data.message || name);
      return {
        shown: [`Error: ${words}`],
        complaint: { status: data.statusCode ?? statusIn(words), text: words },
        result: 'failed',
      };
    }
  }
}

/** The last step says why the model has ended it. */
function endOf(reason: string): StreamNews {
  if (reason === 'stop') return { result: { done: 'done' } };
  return { complaint: { text: `the model has ended its answer: ${reason}` }, result: 'failed' };
}

type Finished = Extract<OpencodeEvent, { type: 'step_finish' }>['part'];

function usageOf({ cost, tokens }: Finished): Usage {
  return {
    inputTokens: tokens.input,
    outputTokens: tokens.output + tokens.reasoning,
    cacheReadTokens: tokens.cache.read,
    cacheWriteTokens: tokens.cache.write,
    costUsd: cost,
  };
}
