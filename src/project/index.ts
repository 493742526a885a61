export { makeImages } from './build-images.ts';
export type { BuildListener } from './build-images.ts';
export { agentProblem, findProgram } from './check-agent.ts';
export { checkObjects } from './check-objects.ts';
export { engineProblem, enginePrograms } from './choose-mode.ts';
export type { ModeLine } from './choose-mode.ts';
export { checkCleaning, planCleaning, removeRun } from './clean-run.ts';
export type { CleaningPlan } from './clean-run.ts';
export { allowedFolders, checkedMounts } from './container-config.ts';
export type { ConfigWishes } from './container-config.ts';
export type { EngineTraces } from './engine-traces.ts';
export { findGraph } from './find-graph.ts';
export { imageRequest, projectIfAny } from './image-request.ts';
export { noRun } from './left-work.ts';
export { loadGraph } from './load-graph.ts';
export { mergeRun } from './merge-run.ts';
export type { MergedRun } from './merge-run.ts';
export type { NetworkTally, Tally } from './network-tally.ts';
export { prepareRun } from './prepare-run.ts';
export type { Prepared } from './prepare-run.ts';
export { openProject, placeWorkers } from './project.ts';
export type { Project } from './project.ts';
export { retryTasks } from './retry-tasks.ts';
export { runFeature } from './run-feature.ts';
export { clearGoneRuns } from './run-folders.ts';
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
export type { SteeringChange } from './steering-changes.ts';
export { stopRun } from './stop-run.ts';
export type { Stopped } from './stop-run.ts';
export { unprotectedLines } from './unprotected.ts';
export { checkWorkers } from './wire-workers.ts';
export { agentSpec, wireList } from './wire.ts';
