export { assignment, gateSpec } from './assignment.ts';
export type {
  AgentSpec,
  Assignment,
  GateAssignment,
  GateSpec,
  Limits,
  TaskAssignment,
  TaskBrief,
} from './assignment.ts';
export { boot, lease } from './boot.ts';
export type { Boot, Lease } from './boot.ts';
export { logLine } from './log-line.ts';
export type { LogLine, LogSource } from './log-line.ts';
export { MARKS } from './marks.ts';
export { attemptRef, attemptRefs, branchNames, trialRef } from './names.ts';
export { outcome, STATUS_LIMIT, TEXT_LIMIT, usage, workerStatus } from './status.ts';
export type { GateReport, GateResult, Outcome, Phase, TaskResult, Usage, WorkerStatus } from './status.ts';
