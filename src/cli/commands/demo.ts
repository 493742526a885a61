import type { Command } from '../command.ts';

export const demo: Command = { name: 'demo', summary: 'x', options: [], examples: [], run: async () => 1 };
