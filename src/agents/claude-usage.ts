import { addUsage, NO_USAGE } from '../protocol/index.ts';
import type { Usage } from '../protocol/index.ts';
import type { ClaudeEvent, ClaudeResult, TokenCounts } from './claude-stream.ts';

/**
 * Adds up what an attempt used. Each message counts once, by its id. The final result replaces the sum: only it has the
 * cost, and all output tokens, because a message is printed before it is complete.
 */
export function usageMeter() {
  const byMessage = new Map<string, Usage>();
  let final: Usage | null = null;
  return {
    add(event: ClaudeEvent): void {
      if (event.type === 'result') final = fromResult(event);
      if (event.type !== 'assistant' || event.message.usage === undefined) return;
      byMessage.set(event.message.id, fromCounts(event.message.usage));
    },
    total: (): Usage | null => final ?? (byMessage.size === 0 ? null : sum([...byMessage.values()])),
  };
}

/** The sum over all models includes side calls and subagents, as the cost does. */
function fromResult(result: ClaudeResult): Usage {
  const models = Object.values(result.modelUsage).map((model) => ({
    inputTokens: model.inputTokens,
    outputTokens: model.outputTokens,
    cacheReadTokens: model.cacheReadInputTokens,
    cacheWriteTokens: model.cacheCreationInputTokens,
    costUsd: 0,
  }));
  const tokens = models.length === 0 && result.usage !== undefined ? fromCounts(result.usage) : sum(models);
  return { ...tokens, costUsd: result.total_cost_usd };
}

function fromCounts(counts: TokenCounts): Usage {
  return {
    inputTokens: counts.input_tokens,
    outputTokens: counts.output_tokens,
    cacheReadTokens: counts.cache_read_input_tokens,
    cacheWriteTokens: counts.cache_creation_input_tokens,
    costUsd: 0,
  };
}

const sum = (parts: readonly Usage[]): Usage => parts.reduce(addUsage, NO_USAGE);
