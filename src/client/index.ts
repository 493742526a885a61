export { HttpRunnerClient } from './http-client.ts';
export { MockRunnerClient } from './mock-client.ts';
export { RunnerError } from './types.ts';
export type {
  ExecEnd,
  ExecOutput,
  ExecRequest,
  ExecResult,
  IDEFile,
  IRunnerClient,
  RunnerSession,
  RuntimeType,
} from './types.ts';
