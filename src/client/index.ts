export { HttpRunnerClient } from './http-client.ts';
export { MockRunnerClient } from './mock-client.ts';
export * from './types.ts';
