import type { Command } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const init: Command = {
  name: 'init',
  summary: 'prepare a repository: a commented configuration and an example feature',
  options: [JSON_OPTION],
  examples: [
    ['mahabharatha init', 'writes .mahabharatha/, overwrites nothing'],
    ['mahabharatha kurukshetra --feature example', 'build the example: it needs no agent'],
  ],
  run: async (input, context) => {
    const { initProject } = await import('../setup/init-project.ts');
    return initProject(input, context);
  },
};
