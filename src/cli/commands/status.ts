import type { Command } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const status: Command = {
  name: 'status',
  summary: 'show how a run stands, also from another terminal',
  options: [FEATURE_OPTION, { flags: '--watch', summary: 'go on showing until the run is over' }, JSON_OPTION],
  examples: [
    ['mahabharatha status', 'tasks, workers, levels'],
    ['mahabharatha status --watch', 'the same, live'],
    ['mahabharatha status --json | jq .tasks', 'for programs'],
  ],
  run: async (input, context) => {
    const { showStatus } = await import('../inspect/show-status.ts');
    return showStatus(input, context);
  },
};
