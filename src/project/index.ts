export { makeImages } from './build-images.ts';
export type { BuildListener, ImageUse } from './build-images.ts';
export { imagePlace, machinePlace } from './agent-place.ts';
export type { AgentPlace } from './agent-place.ts';
export { examineAgent, loginOf } from './check-agent.ts';
export type { ExaminedAgent } from './check-agent.ts';
export { enginePrograms } from './choose-mode.ts';
export {
  approveRequirements,
  findRequirements,
  proposalFor,
  readDesign,
  readRequirements,
} from './requirements-file.ts';
export type { RequirementsFile, Written } from './requirements-file.ts';
export type { OnProblems } from './ask-agent.ts';
export { designFeature } from './design-feature.ts';
export type { Designed } from './design-feature.ts';
export { planFeature } from './plan-feature.ts';
export { probeAgent } from './probe-agent.ts';
export type { Planned } from './plan-feature.ts';
export { inNoBranch, planCleaningAll } from './clean-all.ts';
export type { CleanableRun } from './clean-all.ts';
export { checkCleaning, planCleaning, removeRun } from './clean-run.ts';
export type { CleaningPlan } from './clean-run.ts';
export { inSpecs } from './choose-feature.ts';
export { EXAMPLE_FEATURE } from './decide-feature.ts';
export type { FeatureUse } from './decide-feature.ts';
export { checkFeatureName } from './feature-name.ts';
export { allowedFolders, checkedMounts } from './container-config.ts';
export type { ConfigWishes } from './container-config.ts';
export { engineProblem } from './decide-mode.ts';
export type { ModeLine } from './decide-mode.ts';
export type { EngineTraces } from './engine-traces.ts';
export { findGraph, graphFileOf, loadGraph } from './find-graph.ts';
export { fixGraph } from './fix-graph.ts';
export { launchFile, programFile, schemaFile } from './package-files.ts';
export { imageRequest, packageImageRequest, projectIfAny } from './image-request.ts';
export { clearGoneRuns, readRun } from './left-work.ts';
export { featureRow, listFeatures } from './list-features.ts';
export type { FeatureRow, FeatureStanding } from './list-features.ts';
export { mergeRun } from './merge-run.ts';
export type { MergedRun } from './merge-run.ts';
export { needsRetry } from './needs-retry.ts';
export type { NetworkTally, Tally } from './network-tally.ts';
export { previewRun } from './plan-run.ts';
export type { RunPreview } from './plan-run.ts';
export { graphPlace, openProject, placeWorkers } from './project.ts';
export type { Project } from './project.ts';
export { reasonsForContainers } from './reasons-for-containers.ts';
export { openPullRequest, planPullRequest } from './pull-request.ts';
export type { PullRequest } from './pull-request.ts';
export { openShell } from './open-shell.ts';
export type { OpenShell } from './shell-plan.ts';
export { reportRun } from './report-run.ts';
export { retryTasks } from './retry-tasks.ts';
export { credentialsInWords, credentialsLine } from './credentials-line.ts';
export type { CredentialsLine } from './credentials-line.ts';
export type { EndOfRun, RunFace, RunHost, RunListener } from './run-face.ts';
export { runFeature } from './run-feature.ts';
export type { LoadedGraph, RunWishes } from './run-request.ts';
export {
  approveOwn,
  approveSettings,
  changeLines,
  configOf,
  folderPlace,
  inWords,
  notTrusted,
  readSettings,
  trustNotes,
} from './settings.ts';
export type { Settings, SettingsPlace } from './settings.ts';
export { shortages } from './shortages.ts';
export { viewStatus } from './status-view.ts';
export type { StatusView } from './status-view.ts';
export { lookAtWork, present } from './work-now.ts';
export type { WorkByWorker, WorkNow } from './work-now.ts';
export type { SteeringChange } from './steering-changes.ts';
export { tryOverlays } from './try-overlays.ts';
export { stopRun } from './stop-run.ts';
export type { Stopped } from './stop-run.ts';
export { agentSpec, usedAgents } from './run-agents.ts';
export type { UsedAgent } from './run-agents.ts';
export { unprotectedLines } from './unprotected.ts';
export { checkObjects } from './worker-users.ts';
