import type { Command } from '../command.ts';

export const demo: Command = {
  name: 'demo',
  summary: 'build a small feature with two workers in a throw-away repository, before your eyes',
  options: [{ flags: '--dir <path>', summary: 'where (default: a new temporary folder)' }],
  examples: [['mahabharatha demo', 'takes a few seconds, needs only git']],
  run: async (input, context) => {
    const { runDemo } = await import('../setup/run-demo.ts');
    return runDemo(input, context);
  },
};
