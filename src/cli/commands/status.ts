import type { Command } from '../command.ts';

export const status: Command = { name: 'status', summary: 'x', options: [], examples: [], run: async () => 1 };
