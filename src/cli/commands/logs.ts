import type { Command } from '../command.ts';

export const logs: Command = { name: 'logs', summary: 'x', options: [], examples: [], run: async () => 1 };
