export {
  agentName,
  asksAgent,
  assignment,
  gateSpec,
  isKnownAgent,
  isKnownName,
  KNOWN_AGENTS,
  tellsCost,
} from './assignment.ts';
export type {
  AgentSpec,
  Assignment,
  GateAssignment,
  GateSpec,
  KnownAgent,
  KnownAgentSpec,
  Limits,
  TaskAssignment,
  TaskBrief,
  VerifyAssignment,
} from './assignment.ts';
export { boot, lease } from './boot.ts';
export type { Boot, Lease } from './boot.ts';
export {
  EGRESS_KEY,
  EGRESS_ORDERS,
  EGRESS_SOCKET,
  egressIdentity,
  egressOrders,
  egressPreamble,
  isInReach,
  LONGEST_PREAMBLE,
  LONGEST_REACH,
  reachPlace,
  reachText,
  modelAccess,
  readEgressPreamble,
} from './egress.ts';
export type { EgressClaim, EgressOrders, EgressReach, EgressRule, EgressWay, ModelAccess } from './egress.ts';
export { credentials, handover, DEADLINE_MARK, HANDOVER_MARK, INSIDE } from './handover.ts';
export type { AgentAccess, Credentials, Handover } from './handover.ts';
export { logLine, readLogLine } from './log-line.ts';
export type { LogLine, LogSource } from './log-line.ts';
export { MARKS } from './marks.ts';
export {
  attemptRef,
  attemptRefs,
  branchNames,
  BUNDLE,
  commitMessage,
  COPIES,
  EGRESS_LOG,
  FEATURE_TRAILER,
  HOOK_LOG,
  HOOK_RUNNER,
  MOST_WORKERS,
  SHELL_WORKER,
  SNAPSHOT_DRAFT,
  SNAPSHOT_MAKER,
  SPARE,
  TASK_TRAILER,
  TIP_TRAILER,
  trialRef,
} from './names.ts';
export { ALREADY_DONE, IF_SATISFIED, nothingChanged } from './no-change.ts';
export { lastOfPlaces, numberCount, placeOf } from './places.ts';
export { readRefusal } from './refusal.ts';
export type { Refusal, RefusalReason } from './refusal.ts';
export { outcome, STATUS_LIMIT, TEXT_LIMIT, TROUBLE_LIMIT, workerStatus } from './status.ts';
export type {
  GateReport,
  GateResult,
  Outcome,
  Phase,
  Prepared,
  TaskResult,
  VerifyResult,
  WorkerStatus,
} from './status.ts';
export { addUsage, NO_USAGE, replaceUsage, usage } from './usage.ts';
export type { Price, Prices, Usage } from './usage.ts';
export { createFrameReader, encodeCredit, encodeFrame, encodeJson, FRAME } from './frames.ts';
export type { Frame, FrameKind } from './frames.ts';
export {
  fileAnswer,
  forkServerAnswer,
  SANDBOX,
  SANDBOX_MARK,
  SHARED_MARK,
  sandboxEnd,
  WITHOUT_BASH_ENV,
} from './sandbox.ts';
export type {
  DoorWish,
  FileAnswer,
  FileCall,
  FileEntry,
  ForkServerWish,
  ForkWish,
  MatchedFile,
  PlaceAhead,
  ProgramAhead,
  SandboxEnd,
  StartWish,
} from './sandbox.ts';
