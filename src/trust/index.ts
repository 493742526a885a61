export { readApproved, writeApproved } from './approvals.ts';
export { differences } from './difference.ts';
export type { Difference } from './difference.ts';
export { readSteering } from './steering-files.ts';
export type { SteeringFiles } from './steering-files.ts';
