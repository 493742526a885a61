export { createContainerLauncher, listWorkers } from './container/container-launcher.ts';
export { closedObjects } from './container/folders.ts';
export { LABEL as RUN_LABEL } from './container/labels.ts';
export { secretsOf } from './container/settings.ts';
export type { ContainerSettings } from './container/settings.ts';
export { taskVariables } from './container/stdin-lines.ts';
export type { Launcher, Spare, WorkerExit, WorkerHandle, WorkerSpec, WorktreeLayers } from './launcher.ts';
export { createSubprocessLauncher } from './subprocess/subprocess-launcher.ts';
