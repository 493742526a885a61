export { findAgentCredentials } from './agent-credentials.ts';
export { chooseWay } from './injection.ts';
export type { Injection, NoInjection } from './injection.ts';
export type { AgentCredentials } from './login.ts';
export { makeHandover } from './make-handover.ts';
export type { AgentProof, ServedAgent } from './make-handover.ts';
export { findKeys } from './model-keys.ts';
export { modelWays } from './providers.ts';
export type { AskedAgent, ModelWay } from './providers.ts';
