import type { AgentSpec, KnownAgent, KnownAgentSpec, Prices } from '../protocol/index.ts';
import type { Agent } from './agent.ts';
import { claudeAgent } from './claude.ts';
import { codexAgent } from './codex.ts';
import { commandAgent } from './command.ts';
import { geminiAgent } from './gemini.ts';
import { opencodeAgent } from './opencode.ts';
import { shellAgent } from './shell.ts';

/** `prices` are the user's own. */
export function createAgent(spec: AgentSpec, prices: Prices): Agent {
  if (spec.kind === 'shell') return shellAgent();
  if (spec.kind === 'command') return commandAgent(spec);
  return KNOWN[spec.kind](spec, prices);
}

const KNOWN: Readonly<Record<KnownAgent, (spec: KnownAgentSpec, prices: Prices) => Agent>> = {
  claude: claudeAgent,
  codex: codexAgent,
  gemini: geminiAgent,
  opencode: opencodeAgent,
};
