export { isAllowed, parseAllowlist } from './allowlist.ts';
export type { Allowlist } from './allowlist.ts';
export { proxyEnvironment } from './environment.ts';
export { readNpmHosts } from './npm-hosts.ts';
export type { NpmHosts } from './npm-hosts.ts';
export { proxyProgram } from './program.ts';
export type { ProxyProgram } from './program.ts';
export { egressRules } from './rules.ts';
export type { EgressRules, EgressWishes } from './rules.ts';
