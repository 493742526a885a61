import type { Command } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const cleanup: Command = {
  name: 'cleanup',
  summary: "remove a run's worktrees, branches, containers, state and logs; never specs",
  options: [
    FEATURE_OPTION,
    { flags: '--dry-run', summary: 'list what would go, remove nothing' },
    { flags: '--caches', summary: "also remove the package caches that this repository's containers share" },
    { flags: '-y, --yes', summary: 'do not ask' },
    JSON_OPTION,
  ],
  examples: [
    ['mahabharatha cleanup --dry-run', 'what would go?'],
    ['mahabharatha cleanup --feature login --yes', 'remove it, without asking'],
  ],
  run: async (input, context) => {
    const { cleanFeature } = await import('../cleanup/clean-feature.ts');
    return cleanFeature(input, context);
  },
};
