import type { Command } from '../command.ts';

export const retry: Command = { name: 'retry', summary: 'x', options: [], examples: [], run: async () => 1 };
