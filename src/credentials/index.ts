export { findAgentCredentials } from './agent-credentials.ts';
export { chooseWay } from './injection.ts';
export type { Injection, NoInjection } from './injection.ts';
export type { AgentCredentials } from './login.ts';
export { makeHandover } from './make-handover.ts';
