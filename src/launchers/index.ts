export type { Launcher, LauncherCapabilities, WorkerExit, WorkerHandle, WorkerSpec } from './launcher.ts';
export { createSubprocessLauncher } from './subprocess/subprocess-launcher.ts';
