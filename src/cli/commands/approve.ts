import { JSON_OPTION } from '../command.ts';
import type { CommandDefinition } from '../command.ts';

export const approve = {
  name: 'approve',
  argument: ['<feature>', 'its name'],
  summary: 'approve the requirements of a feature',
  options: { json: JSON_OPTION },
  details: [
    `Checks that all sections are there, that ids are unique, and that no question with the priority Must is open. The date and your
git identity are written into the document. A change after that makes the approval stale.`,
  ],
  examples: [
    ['mahabharatha approve login', 'your signature'],
    ['mahabharatha design login', 'the next step'],
  ],
} as const satisfies CommandDefinition;
