import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const init = {
  name: 'init',
  summary: 'prepare a repository: a commented configuration and an example feature',
  options: { json: JSON_OPTION },
  examples: [
    ['mahabharatha init', 'writes .mahabharatha/, overwrites nothing'],
    ['mahabharatha kurukshetra --feature example', 'build the example: it needs no agent'],
  ],
} as const satisfies CommandDefinition;
