export type { AttemptCharge, NumberedEvent, RecordedEvent, RunEvent } from './events.ts';
export { clearRun, featuresWithState, openStore } from './file-store.ts';
export type { StateStore } from './file-store.ts';
export { projectPaths, runPaths } from './paths.ts';
export type { FeaturePaths, ProjectPaths, WorkerPaths } from './paths.ts';
export { checkRunPlace, locateRuns, removeGoneRuns } from './run-place.ts';
/** @public used by scripts/generate.js */
export { runStateJsonSchema } from './schema.ts';
export type {
  AttemptOutcome,
  AttemptState,
  Caps,
  GateRun,
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
