import type { Command } from '../command.ts';

export const cleanup: Command = { name: 'cleanup', summary: 'x', options: [], examples: [], run: async () => 1 };
