import type { Command } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const retry: Command = {
  name: 'retry',
  argument: { name: '[task]', summary: 'the failed task; all failed tasks when left out' },
  summary: 'give failed tasks new tries, and what they block with them',
  options: [FEATURE_OPTION, JSON_OPTION],
  examples: [
    ['mahabharatha retry LOGIN-L1-001', 'one task'],
    ['mahabharatha retry', 'all failed tasks'],
  ],
  run: async (input, context) => {
    const { retryFailed } = await import('../run/retry-failed.ts');
    return retryFailed(input, context);
  },
};
