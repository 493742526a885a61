export { HttpRunnerClient } from './http-client.ts';
export { MockRunnerClient } from './mock-client.ts';
export { RunnerError } from './types.ts';
export type {
  ExecEnd,
  ExecOutput,
  ExecRequest,
  ExecResult,
  FileContent,
  IDEFile,
  IRunnerClient,
  RunnerSession,
  RuntimeType,
  SessionOptions,
  WorkspaceEntry,
} from './types.ts';
