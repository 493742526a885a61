export { captureOutput } from './capture.ts';
export type { Stream } from './connection.ts';
export { DEFAULT_RUNTIMES } from './runtimes.ts';
export type { Runtimes } from './runtimes.ts';
export { runtimeVolume } from './runtime-volume.ts';
export { createRunners } from './runners.ts';
export type { Ran, Runners } from './runners.ts';
export { createSessions } from './sessions.ts';
export type { Executed, SessionFacts, Sessions } from './sessions.ts';
