import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const doctor = {
  name: 'doctor',
  summary: 'check this machine and repository, and say how to mend what is wrong',
  options: {
    mode: [
      '-m, --mode <mode>',
      'what this mode needs, and nothing else: container or subprocess (default: workers.mode)',
    ],
    probe: ['--probe', 'send one real request of each agent that is configured, which costs a few tokens'],
    json: JSON_OPTION,
  },
  examples: [
    ['mahabharatha doctor', 'exit status 4 when something is missing'],
    ['mahabharatha doctor --mode subprocess', 'looks for no engine and no image'],
    ['mahabharatha doctor --probe', 'does the key work, and is the model reached from where workers are?'],
  ],
} as const satisfies CommandDefinition;
