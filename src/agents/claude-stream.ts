import * as z from 'zod/mini';
import { catch as otherwise } from 'zod/mini';
import { parseEvent } from './event-line.ts';

// Every version of the CLI adds events and fields. Here is what we read, optional where possible; the rest is ignored.

const tokens = otherwise(z.number(), 0);

const usageFields = z.object({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_read_input_tokens: tokens,
  cache_creation_input_tokens: tokens,
  /** How much of that is kept for an hour, which costs more. */
  cache_creation: otherwise(z.optional(z.object({ ephemeral_1h_input_tokens: tokens })), undefined),
});

const modelUsageFields = z.object({
  inputTokens: tokens,
  outputTokens: tokens,
  cacheReadInputTokens: tokens,
  cacheCreationInputTokens: tokens,
  costUSD: tokens,
});

const text = otherwise(z.string(), '');
const optionalText = otherwise(z.optional(z.string()), undefined);

const block = z.object({
  type: z.string(),
  text,
  name: text,
  input: otherwise(z.record(z.string(), z.unknown()), {}),
  content: z.optional(z.unknown()),
  is_error: otherwise(z.boolean(), false),
});
export type Block = z.infer<typeof block>;

const blocks = otherwise(z.array(block), []);

const init = z.object({ type: z.literal('system'), subtype: z.literal('init'), cwd: text });

/** A request was refused and is sent again later. */
const apiRetry = z.object({
  type: z.literal('system'),
  subtype: z.literal('api_retry'),
  attempt: otherwise(z.number(), 0),
  max_retries: otherwise(z.number(), 0),
  retry_delay_ms: otherwise(z.number(), 0),
  error_status: otherwise(z.nullable(z.number()), null),
  error: text,
});

const optionalUsage = otherwise(z.optional(usageFields), undefined);

/** A message comes in blocks: several lines have the same id and the same usage, which is that of its begin. */
const assistant = z.object({
  type: z.literal('assistant'),
  message: z.object({ id: text, model: text, content: blocks, usage: optionalUsage }),
  /** Set on an API error: then the text is the CLI's and not the model's. */
  error: optionalText,
});

/** Parts of a message as they come: what it has read is known as it begins, what it has written as it ends. */
const streamEvent = z.object({
  type: z.literal('stream_event'),
  event: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('message_start'),
      message: z.object({ id: text, model: text, usage: optionalUsage }),
    }),
    z.object({ type: z.literal('message_delta'), usage: usageFields }),
  ]),
  parent_tool_use_id: otherwise(z.nullable(z.string()), null),
});

const user = z.object({ type: z.literal('user'), message: z.object({ content: blocks }) });

const MAX_UNIX_SECONDS = 8.64e12;

const rateLimit = z.object({
  type: z.literal('rate_limit_event'),
  rate_limit_info: z.object({
    status: text,
    resetsAt: otherwise(z.optional(z.number().check(z.minimum(0), z.maximum(MAX_UNIX_SECONDS))), undefined),
    /** The limit is used up, but the account pays for more, so work goes on. */
    isUsingOverage: otherwise(z.boolean(), false),
  }),
});

const result = z.object({
  type: z.literal('result'),
  subtype: text,
  is_error: otherwise(z.boolean(), false),
  api_error_status: otherwise(z.nullable(z.number()), null),
  num_turns: otherwise(z.number(), 0),
  result: text,
  errors: otherwise(z.array(z.string()), []),
  total_cost_usd: otherwise(z.nullable(z.number()), null),
  usage: otherwise(z.optional(usageFields), undefined),
  modelUsage: otherwise(z.record(z.string(), modelUsageFields), {}),
});
export type ClaudeResult = z.infer<typeof result>;

const claudeEvent = z.union([init, apiRetry, assistant, streamEvent, user, rateLimit, result]);
export type ClaudeEvent = z.infer<typeof claudeEvent>;
export type TokenCounts = z.infer<typeof usageFields>;

/** Pieces of a message that is being written: many lines, of which nothing is read. */
const isPiece = (line: string): boolean => line.startsWith('{"type":"stream_event"') && !line.includes('"message_');

/** A line of `--output-format stream-json`. */
export const parseLine = (line: string): ClaudeEvent | string | null =>
  isPiece(line) ? null : parseEvent(claudeEvent, line);
