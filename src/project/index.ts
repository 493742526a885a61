export { makeImages } from './build-images.ts';
export type { BuildListener } from './build-images.ts';
export { agentProblem, findProgram } from './check-agent.ts';
export { checkObjects } from './check-objects.ts';
export { engineProblem, enginePrograms } from './choose-mode.ts';
export type { ModeLine } from './choose-mode.ts';
export { allowedFolders, checkedMounts } from './container-config.ts';
export type { ConfigWishes } from './container-config.ts';
export { removeEmptyFolders } from './empty-folders.ts';
export { NO_TRACES, findEngineTraces, removeEngineTraces } from './engine-traces.ts';
export type { EngineTraces } from './engine-traces.ts';
export { findGraph } from './find-graph.ts';
export { imageRequest, projectIfAny } from './image-request.ts';
export { noRun } from './left-work.ts';
export { loadGraph } from './load-graph.ts';
export type { NetworkTally, Tally } from './network-tally.ts';
export { prepareRun } from './prepare-run.ts';
export type { Prepared } from './prepare-run.ts';
export { checkAtRest, openProject, relativeTo } from './project.ts';
export type { Project } from './project.ts';
export { runFeature } from './run-feature.ts';
export { clearGoneRuns, otherOwner, runFolders } from './run-folders.ts';
export type { EndOfRun, RunFace, RunHost, RunListener } from './run-listener.ts';
export { reasonsForContainers } from './run-mode.ts';
export type { RunWishes } from './run-wishes.ts';
export {
  approveOwn,
  approveSettings,
  changeLines,
  configOf,
  inWords,
  notTrusted,
  readSettings,
  trustNotes,
} from './settings.ts';
export type { Settings } from './settings.ts';
export { viewStatus } from './status-view.ts';
export type { StatusView } from './status-view.ts';
export { changedParts, isPackageFile, steeringChanges } from './steering-changes.ts';
export type { SteeringChange } from './steering-changes.ts';
export { unprotectedLines } from './unprotected.ts';
export { checkWorkers } from './wire-workers.ts';
export { STOP_GRACE_MS, agentSpec, sweepRun, wireList } from './wire.ts';
