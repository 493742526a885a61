export type { Policy } from './plan.ts';
export type { Ports, RunContext, RunOptions } from './ports.ts';
export type { RunEnd } from './loop.ts';
export { replay } from './reduce.ts';
export { resumeRun, startRun } from './start.ts';
export { retryAtRest } from './retry-at-rest.ts';
export { removeCheckouts } from './worker-folders.ts';
export { provePublished } from './restore-published.ts';
export { retryable } from './retryable.ts';
