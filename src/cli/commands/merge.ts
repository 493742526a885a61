import type { CommandDefinition } from '../command.ts';
import { FEATURE_ARGUMENT, JSON_OPTION, SURE_FEATURE_OPTION } from '../command.ts';

export const merge = {
  name: 'merge',
  argument: FEATURE_ARGUMENT,
  summary: 'bring the finished feature into a branch of yours',
  options: {
    feature: SURE_FEATURE_OPTION,
    into: ['--into <branch>', 'the branch that takes it (default: the one that is checked out)'],
    squash: ['--squash', 'as one commit, without the history of the tasks'],
    ff: ['--no-ff', 'with a merge commit, also where the branch could be moved along (that is the default)'],
    pr: ['--pr', 'open a pull request instead: push the integration branch, and call gh; moves no branch of yours'],
    partial: ['--partial', 'take what is merged so far, though the run is not complete'],
    dryRun: ['--dry-run', 'say what would change, or conflict; change nothing'],
    json: JSON_OPTION,
  },
  examples: [
    ['mahabharatha merge --dry-run', 'which files would change?'],
    ['mahabharatha merge --feature login --into main', 'bring it in'],
    ['mahabharatha merge --squash', 'as one commit'],
    ['mahabharatha merge --pr --into main', 'as a pull request'],
  ],
} as const satisfies CommandDefinition;
