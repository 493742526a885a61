export { makeIgnoredFolder, readUntrusted, writeFileAtomic } from './atomic-file.ts';
export { sleep, systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export type { ErrorCode } from './error-codes.ts';
export { AppError, asAppError, hasCode, reasonOf, systemCode } from './errors.ts';
export { lockHolder, tryLock, withLock } from './file-lock.ts';
export type { LockHolder } from './file-lock.ts';
export { randomId, timeId } from './ids.ts';
export { endOf, kill, killGroup, run, startDaemon, startJob } from './process.ts';
export type { Environment, Job, ProcessEnd } from './process.ts';
export {
  environmentOf,
  findByEnvironment,
  isAlive,
  killByEnvironment,
  ownIdentity,
  processStart,
} from './process-tree.ts';
export type { ProcessIdentity } from './process-tree.ts';
export { listenForShutdown } from './shutdown.ts';
