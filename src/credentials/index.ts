export { findAgentCredentials } from './agent-credentials.ts';
export type { AgentCredentials } from './login.ts';
export { makeHandover } from './make-handover.ts';
