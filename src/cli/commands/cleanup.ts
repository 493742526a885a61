import type { CommandDefinition } from '../command.ts';
import { FEATURE_ARGUMENT, JSON_OPTION, SURE_FEATURE_OPTION } from '../command.ts';

export const cleanup = {
  name: 'cleanup',
  argument: FEATURE_ARGUMENT,
  summary:
    "remove a run's worktrees, branches, containers, state and logs, and the repository's snapshots; never specs",
  options: {
    feature: SURE_FEATURE_OPTION,
    all: ['--all', 'of all features whose run is over and merged; live runs and unmerged ones stay'],
    unmerged: ['--unmerged', 'with --all: also runs that can go on, and those whose work is in no other branch'],
    dryRun: ['--dry-run', 'list what would be removed, remove nothing'],
    caches: ['--caches', "also remove the package caches that this repository's containers share"],
    yes: ['-y, --yes', 'do not ask'],
    json: JSON_OPTION,
  },
  examples: [
    ['mahabharatha cleanup --dry-run', 'what would be removed?'],
    ['mahabharatha cleanup --feature login --yes', 'remove it, without asking'],
    ['mahabharatha cleanup --all', 'what is merged is not needed any more'],
  ],
} as const satisfies CommandDefinition;
