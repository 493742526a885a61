import type { Environment } from '../lib/index.ts';
import { shapeProblem } from '../lib/text/shape.ts';
import { configErrors } from './errors.ts';
import { mcp } from './mcp-schema.ts';
import type { McpSettings } from './mcp-schema.ts';

const PREFIX = 'MAHABHARATHA_MCP_';
/** AI clients give the programs that they start an environment, and often no folder. */
const LIMITS = [
  'cpus',
  'memory',
  'disk',
  'processes',
  'timeout',
  'longest_timeout',
  'output',
  'sessions',
  'idle',
] as const;

/** The settings, with those of the environment in their place. Throws CONFIG_INVALID. */
export function withEnvironment(settings: McpSettings, env: Environment): McpSettings {
  const problems: string[] = [];
  const named = LIMITS.flatMap((key) => {
    const name = `${PREFIX}${key.toUpperCase()}`;
    const text = env[name] ?? '';
    if (text === '') return [];
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    const { data, error } = mcp.shape[key].safeParse(value, { error: shapeProblem });
    if (error !== undefined) problems.push(`${name}: ${error.issues.map(({ message }) => message).join('; ')}`);
    return [[key, data]];
  });
  if (problems.length > 0) throw configErrors.CONFIG_INVALID({ file: 'The environment', problems });
  return { ...settings, ...Object.fromEntries(named) };
}
