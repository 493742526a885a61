import type { Command } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const logs: Command = {
  name: 'logs',
  argument: { name: '[worker]', summary: 'the number of one worker; all workers and the run itself when left out' },
  summary: 'show what workers and agents printed, and what the run did',
  options: [
    FEATURE_OPTION,
    { flags: '--follow', summary: 'go on until the run is over' },
    { flags: '-n, --tail <lines>', summary: 'how many lines from the end (default: 100; "all" for all)' },
    { flags: '--task <id>', summary: 'only lines of this task' },
    JSON_OPTION,
  ],
  examples: [
    ['mahabharatha logs', 'the last 100 lines of all'],
    ['mahabharatha logs 2 --follow', 'worker 2, live'],
    ['mahabharatha logs --task LOGIN-L1-001 --tail all', 'everything about one task'],
  ],
  run: async (input, context) => {
    const { showLogs } = await import('../inspect/show-logs.ts');
    return showLogs(input, context);
  },
};
