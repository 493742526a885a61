import type { CommandDefinition } from '../command.ts';

export const demo = {
  name: 'demo',
  summary: 'build a small feature with two workers in a throw-away repository',
  options: { dir: ['--dir <path>', 'where (default: a new temporary folder)'] },
  examples: [['mahabharatha demo', 'takes a few seconds, needs only git']],
} as const satisfies CommandDefinition;
