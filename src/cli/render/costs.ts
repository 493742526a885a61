import { counted, inDollars } from '../../lib/index.ts';
import { addUsage, NO_USAGE } from '../../protocol/index.ts';
import type { Usage } from '../../protocol/index.ts';
import type { AttemptState, RunState } from '../../state/index.ts';
import { isForAgent } from '../../tasks/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';

export function sumOf(usages: readonly (Usage | null | undefined)[]): Usage {
  return usages.reduce<Usage>((sum, usage) => addUsage(sum, usage ?? NO_USAGE), NO_USAGE);
}

const tokensIn = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  inputTokens + cacheReadTokens + cacheWriteTokens;

/** "$1.23", or "12k tok" as long as the agent has named no price; empty for nothing. */
export function shortCost(usage: Usage): string {
  const tokens = tokensIn(usage) + usage.outputTokens;
  if ((usage.costUsd ?? 0) > 0) return inDollars(usage.costUsd);
  return tokens === 0 ? '' : `${inThousands(tokens)} tok`;
}

function inThousands(tokens: number): string {
  if (tokens < 1000) return `${tokens}`;
  return tokens < 999_500 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}

/** What a run has cost, in words; undefined when it has asked no agent. Agents that name no price have a cost that is unknown. */
export function costInWords(state: RunState, graph: TaskGraph): string | undefined {
  const attempts = askedAttempts(state, graph);
  const { cost } = state;
  const tokens =
    tokensIn(cost) + cost.outputTokens === 0 ? '' : ` (${tokensIn(cost)} tokens in, ${cost.outputTokens} out)`;
  if (attempts.length === 0 && tokens === '') return undefined;
  if ((cost.costUsd ?? 0) === 0) return `unknown${tokens}`;
  const unknown = attempts.filter(({ usage }) => (usage?.costUsd ?? 0) === 0).length;
  return `${inDollars(cost.costUsd)}${tokens}${unknown === 0 ? '' : `; the cost of ${counted(unknown, 'attempt')} is unknown`}`;
}

/** Attempts in which an agent was asked; what a command of the task does costs nothing. */
function askedAttempts({ tasks, settings }: RunState, graph: TaskGraph): AttemptState[] {
  return graph.tasks.flatMap((task) => (isForAgent(task, settings.agent) ? (tasks[task.id]?.attempts ?? []) : []));
}
