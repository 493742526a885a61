export type { AttemptCharge, RecordedEvent, RunEvent } from './events.ts';
export { featuresWithState, openStore } from './file-store.ts';
export type { RunRequest, StateStore } from './file-store.ts';
export { projectPaths } from './paths.ts';
export type { FeaturePaths, ProjectPaths, WorkerPaths } from './paths.ts';
export { runState } from './schema.ts';
export type {
  AttemptOutcome,
  AttemptState,
  GateSummary,
  LevelState,
  RunSettings,
  RunState,
  RunStatus,
  TaskState,
  TaskStatus,
  Trial,
  WorkerState,
} from './schema.ts';
export { watchFolder } from './watch.ts';
