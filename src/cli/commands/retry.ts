import type { CommandDefinition } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const retry = {
  name: 'retry',
  argument: ['[task]', 'the failed task; all failed tasks when left out'],
  summary: 'give failed tasks new tries, and what they block with them',
  options: { feature: FEATURE_OPTION, json: JSON_OPTION },
  examples: [
    ['mahabharatha retry LOGIN-L1-001', 'one task'],
    ['mahabharatha retry', 'all failed tasks'],
  ],
} as const satisfies CommandDefinition;
