import type { AgentSpec, Prices } from '../protocol/index.ts';
import type { Agent } from './agent.ts';
import { claudeAgent } from './claude.ts';
import { commandAgent } from './command.ts';
import { shellAgent } from './shell.ts';

/** `prices` are the user's own. */
export function createAgent(spec: AgentSpec, prices: Prices): Agent {
  if (spec.kind === 'shell') return shellAgent();
  if (spec.kind === 'claude') return claudeAgent(spec, prices);
  return commandAgent(spec);
}
