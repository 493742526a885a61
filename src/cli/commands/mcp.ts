import type { CommandDefinition } from '../command.ts';

export const mcp = {
  name: 'mcp',
  summary: 'offer the tool run_code to an AI client, on stdin and stdout',
  options: {},
  examples: [['claude mcp add mahabharatha -- mahabharatha mcp', 'adds it to Claude Code']],
} as const satisfies CommandDefinition;
