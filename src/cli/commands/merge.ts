import type { Command } from '../command.ts';

export const merge: Command = { name: 'merge', summary: 'x', options: [], examples: [], run: async () => 1 };
