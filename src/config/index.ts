export { loadConfig, parseConfig } from './load.ts';
export { parseDuration } from './schema.ts';
/** @public used by scripts/generate.js */
export { configJsonSchema } from './schema.ts';
export type { Config } from './schema.ts';
