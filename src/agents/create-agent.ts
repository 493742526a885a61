import type { AgentSpec } from '../protocol/index.ts';
import type { Agent } from './agent.ts';
import { claudeAgent } from './claude.ts';
import { commandAgent } from './command.ts';
import { shellAgent } from './shell.ts';

export function createAgent(spec: AgentSpec): Agent {
  if (spec.kind === 'shell') return shellAgent();
  if (spec.kind === 'claude') return claudeAgent(spec);
  return commandAgent(spec);
}
