import type { Command } from '../command.ts';

export const stop: Command = { name: 'stop', summary: 'x', options: [], examples: [], run: async () => 1 };
