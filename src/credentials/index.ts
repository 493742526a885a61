export { findAgentCredentials } from './agent-credentials.ts';
export { makeHandover } from './make-handover.ts';
