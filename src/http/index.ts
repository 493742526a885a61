export { openLog } from './log.ts';
export { openServer } from './open-server.ts';
export type { OpenServer } from './open-server.ts';
export { findServers } from './servers-home.ts';
