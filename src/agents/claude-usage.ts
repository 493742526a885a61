import { addUsage, NO_USAGE } from '../protocol/index.ts';
import type { Prices, Usage } from '../protocol/index.ts';
import type { ClaudeEvent, ClaudeResult, TokenCounts } from './claude-stream.ts';
import { costOf, priceIn, priceOf } from './prices.ts';

/** To keep a prefix for an hour costs twice the input; `cacheWrite` is the price for five minutes. */
const HOUR_TO_INPUT = 2;

/** What is known of one message. */
interface Message {
  readonly model: string;
  readonly counts: TokenCounts;
}

/**
 * Adds up what an attempt used. Each message counts once, by its id: the stream tells its input as it begins and its
 * output as it ends. What it costs is estimated from that. The final result replaces the sum: it has the cost, with
 * side calls and subagents.
 */
export function usageMeter(own: Prices) {
  const messages = new Map<string, Message>();
  const partIn = partReader();
  const guessed = new Set<string>();
  let final: ClaudeResult | null = null;
  let total: Usage | null = null;
  return {
    /** Returns what the log shows of it, if anything. */
    add(event: ClaudeEvent): readonly string[] {
      if (event.type === 'result') final = event;
      const { id, usage, model: told } = partIn(event);
      total = null;
      if (usage === undefined) return [];
      const before = messages.get(id);
      const model = told ?? before?.model ?? '';
      messages.set(id, { model, counts: before === undefined ? usage : largest(before.counts, usage) });
      if (guessed.has(model) || sizeOf(usage) === 0 || !priceOf(model, own).isGuess) return [];
      guessed.add(model);
      return [
        `No price is known for ${model}: its tokens count at the highest known price. See: prices in config.yaml`,
      ];
    },
    total(): Usage | null {
      if (messages.size === 0 && final === null) return null;
      const sum = (): Usage => sumOf(messages.values(), own);
      total ??= final === null ? sum() : fromResult(final, sum(), own);
      return total;
    },
  };
}

interface Part {
  readonly id: string;
  readonly model?: string;
  readonly usage?: TokenCounts | undefined;
}

/** What an event tells of a message. Its end has no id: it is that of the one that began last in the same conversation. */
function partReader(): (event: ClaudeEvent) => Part {
  /** By the tool call that a subagent belongs to; the main conversation has none. */
  const open = new Map<string | null, string>();
  return (event) => {
    if (event.type === 'assistant') return event.message;
    if (event.type !== 'stream_event') return { id: '' };
    const { event: part, parent_tool_use_id: parent } = event;
    if (part.type === 'message_delta') return { id: open.get(parent) ?? '', usage: part.usage };
    open.set(parent, part.message.id);
    return part.message;
  };
}

const sizeOf = (counts: TokenCounts): number =>
  counts.input_tokens + counts.output_tokens + counts.cache_read_input_tokens + counts.cache_creation_input_tokens;

/** Later events of a message may lack what earlier ones told. */
function largest(one: TokenCounts, other: TokenCounts): TokenCounts {
  return {
    input_tokens: Math.max(one.input_tokens, other.input_tokens),
    output_tokens: Math.max(one.output_tokens, other.output_tokens),
    cache_read_input_tokens: Math.max(one.cache_read_input_tokens, other.cache_read_input_tokens),
    cache_creation_input_tokens: Math.max(one.cache_creation_input_tokens, other.cache_creation_input_tokens),
    cache_creation: other.cache_creation ?? one.cache_creation,
  };
}

function sumOf(messages: Iterable<Message>, own: Prices): Usage {
  return [...messages].map((message) => usageOf(message, own)).reduce(addUsage, NO_USAGE);
}

function usageOf({ model, counts }: Message, own: Prices): Usage {
  const { price } = priceOf(model, own);
  const forAnHour = counts.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  const dearer = Math.max(0, price.input * HOUR_TO_INPUT - price.cacheWrite);
  const tokens = tokensOf(counts);
  return { ...tokens, costUsd: costOf(tokens, price) + (forAnHour * dearer) / 1e6 };
}

function tokensOf(counts: TokenCounts): Omit<Usage, 'costUsd'> {
  return {
    inputTokens: counts.input_tokens,
    outputTokens: counts.output_tokens,
    cacheReadTokens: counts.cache_read_input_tokens,
    cacheWriteTokens: counts.cache_creation_input_tokens,
  };
}

/** Where the user has a price of their own, that counts, and not the one that the CLI has reckoned with. */
function fromResult({ modelUsage, usage, total_cost_usd: told }: ClaudeResult, estimate: Usage, own: Prices): Usage {
  const models = Object.entries(modelUsage).map(([model, used]) => {
    const tokens = {
      inputTokens: used.inputTokens,
      outputTokens: used.outputTokens,
      cacheReadTokens: used.cacheReadInputTokens,
      cacheWriteTokens: used.cacheCreationInputTokens,
    };
    const price = priceIn(own, model);
    return { ...tokens, costUsd: price === undefined ? 0 : costOf(tokens, price) - used.costUSD };
  });
  const sum = models.reduce(addUsage, { ...NO_USAGE, costUsd: told ?? estimate.costUsd });
  return models.length === 0 && usage !== undefined ? { ...sum, ...tokensOf(usage) } : sum;
}
