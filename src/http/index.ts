export { httpErrors } from './errors.ts';
export { openServer } from './open-server.ts';
export type { OpenServer } from './open-server.ts';
export { readTokens } from './tokens.ts';
