export { isAllowed, parseAllowlist } from './allowlist.ts';
export type { Audience } from './audience.ts';
export { proxyEnvironment } from './environment.ts';
export { proxyProgram } from './program.ts';
export type { ProxyProgram } from './program.ts';
export { allowlistProblems, egressRules } from './rules.ts';
export type { EgressRules } from './rules.ts';
