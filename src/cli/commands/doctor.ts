import type { Command } from '../command.ts';

export const doctor: Command = { name: 'doctor', summary: 'x', options: [], examples: [], run: async () => 1 };
