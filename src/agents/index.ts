export type { Agent, AgentReader, AgentVerdict } from './agent.ts';
export { createAgent } from './create-agent.ts';
export { AGENT_FACTS, isOlder, versionIn } from './known-agents.ts';
export { buildPrompt } from './prompt.ts';
