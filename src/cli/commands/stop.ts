import type { Command } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const stop: Command = {
  name: 'stop',
  summary: 'end a live run in order; it can be resumed',
  options: [FEATURE_OPTION, JSON_OPTION],
  examples: [
    ['mahabharatha stop --feature login', 'workers get 10 s to save their work'],
    ['mahabharatha kurukshetra --feature login --resume', 'go on later'],
  ],
  run: async (input, context) => {
    const handler = await import('../run/stop-run.ts');
    return handler.stop(input, context);
  },
};
