import type { Command } from '../command.ts';

export const init: Command = { name: 'init', summary: 'x', options: [], examples: [], run: async () => 1 };
