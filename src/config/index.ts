export { loadConfig, loadSettings, parseConfig } from './load.ts';
export { readYaml } from './read-yaml.ts';
export { DEFAULT_RUNTIMES } from './serve-defaults.ts';
export { parseDollars, parseDuration } from './amounts.ts';
export { withEnvironment } from './mcp-environment.ts';
export type { McpSettings } from './mcp-schema.ts';
/** @public used by scripts/generate.js */
export { configJsonSchema } from './schema.ts';
export type { Config } from './schema.ts';
export type { Settings } from './settings-schema.ts';
/** @public used by scripts/generate.js */
export { settingsJsonSchema } from './settings-schema.ts';
