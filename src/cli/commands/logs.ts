import type { CommandDefinition } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const logs = {
  name: 'logs',
  argument: ['[worker]', 'the number of one worker; all workers and the run itself when left out'],
  summary: 'show what workers and agents printed, and what the run did',
  isViewer: true,
  options: {
    feature: FEATURE_OPTION,
    follow: ['--follow', 'go on until the run is over'],
    tail: ['-n, --tail <lines>', 'how many lines from the end (default: 100; "all" for all)'],
    task: ['--task <id>', 'only lines of this task'],
    json: JSON_OPTION,
  },
  examples: [
    ['mahabharatha logs', 'the last 100 lines of all'],
    ['mahabharatha logs 2 --follow', 'worker 2, live'],
    ['mahabharatha logs --task LOGIN-L1-001 --tail all', 'everything about one task'],
  ],
} as const satisfies CommandDefinition;
