import type { Command } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'check this machine and repository, and say how to mend what is wrong',
  options: [JSON_OPTION],
  examples: [['mahabharatha doctor', 'exit status 4 when something is missing']],
  run: async (input, context) => {
    const { examine } = await import('../doctor/examine-machine.ts');
    return examine(input, context);
  },
};
