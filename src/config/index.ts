export { loadConfig } from './load.ts';
export { configJsonSchema, configSchema, parseDuration } from './schema.ts';
export type { Config } from './schema.ts';
