export type { Agent, AgentReader, AgentVerdict } from './agent.ts';
export { createAgent } from './create-agent.ts';
export { buildPrompt } from './prompt.ts';
