import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const doctor = {
  name: 'doctor',
  summary: 'check this machine and repository, and say how to mend what is wrong',
  options: { json: JSON_OPTION },
  examples: [['mahabharatha doctor', 'exit status 4 when something is missing']],
} as const satisfies CommandDefinition;
