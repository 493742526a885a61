export { createContainerLauncher } from './container/container-launcher.ts';
export type { ContainerSettings } from './container/settings.ts';
export { sweepRun } from './container/sweep.ts';
export { listWorkers } from './container/worker-list.ts';
export { workerIdentity } from './container/folders.ts';
export type { Launcher, LauncherCapabilities, WorkerExit, WorkerHandle, WorkerSpec } from './launcher.ts';
export { createSubprocessLauncher } from './subprocess/subprocess-launcher.ts';
