import type { CommandDefinition } from '../command.ts';
import { FEATURE_ARGUMENT, FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const report = {
  name: 'report',
  argument: FEATURE_ARGUMENT,
  summary: 'tell what a run has done: tasks, attempts, gates, cost, and a time line of its workers',
  options: {
    feature: FEATURE_OPTION,
    format: ['--format <form>', 'md (Markdown), html (one page) or json (default: by the name of --out, else md)'],
    out: ['--out <path>', 'a file; it is replaced when it is there (default: stdout)'],
    json: JSON_OPTION,
  },
  details: [
    'The page needs no other file, no script and no network, so it can be sent or kept as it is. A live run can be told, too.',
  ],
  examples: [
    ['mahabharatha report', 'in Markdown, for a terminal or a comment'],
    ['mahabharatha report --out login.html', 'a page with the time line of each worker'],
    ['mahabharatha report --feature login --json | jq .workedMs', 'for programs'],
  ],
} as const satisfies CommandDefinition;
