import type { CommandDefinition } from '../command.ts';
import { FEATURE_ARGUMENT, FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const status = {
  name: 'status',
  argument: FEATURE_ARGUMENT,
  summary: 'show how a run stands, also from another terminal',
  isViewer: true,
  options: {
    feature: FEATURE_OPTION,
    watch: ['--watch', 'go on showing until the run is over'],
    json: JSON_OPTION,
  },
  examples: [
    ['mahabharatha status', 'tasks, workers, levels'],
    ['mahabharatha status --watch', 'the same, live'],
    ['mahabharatha status --json | jq .tasks', 'for programs'],
  ],
} as const satisfies CommandDefinition;
