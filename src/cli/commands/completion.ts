import type { CommandDefinition } from '../command.ts';

export const completion = {
  name: 'completion',
  argument: ['<shell>', 'bash, zsh or fish; "words" is what their scripts call'],
  rest: ['[words...]', 'after "words" and `--`: what stands on the line so far'],
  summary: 'print a script that completes commands, options, features, tasks and workers',
  options: {},
  examples: [
    ['source <(mahabharatha completion bash)', 'in ~/.bashrc'],
    ['source <(mahabharatha completion zsh)', 'in ~/.zshrc, after compinit'],
    ['mahabharatha completion fish | source', 'in ~/.config/fish/config.fish'],
  ],
} as const satisfies CommandDefinition;
