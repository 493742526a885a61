export { httpErrors } from './errors.ts';
export { isOfThisMachine } from './guard.ts';
export { openLog } from './log.ts';
export { openServer } from './open-server.ts';
export type { OpenServer } from './open-server.ts';
export { readTokens } from './tokens.ts';
export { findServers } from './servers-home.ts';
