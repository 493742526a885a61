import type { CommandDefinition } from '../command.ts';
import { FEATURE_ARGUMENT, FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const stop = {
  name: 'stop',
  argument: FEATURE_ARGUMENT,
  summary: 'end a live run in order; it can be resumed',
  options: { feature: FEATURE_OPTION, json: JSON_OPTION },
  examples: [
    ['mahabharatha stop --feature login', 'workers get 10 s to save their work'],
    ['mahabharatha kurukshetra --feature login --resume', 'go on later'],
  ],
} as const satisfies CommandDefinition;
