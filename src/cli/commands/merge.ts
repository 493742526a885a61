import type { Command } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION } from '../command.ts';

export const merge: Command = {
  name: 'merge',
  summary: 'bring the finished feature into a branch of yours',
  options: [
    FEATURE_OPTION,
    { flags: '--into <branch>', summary: 'the branch that takes it (default: the one that is checked out)' },
    { flags: '--partial', summary: 'take what is merged so far, though the run is not complete' },
    { flags: '--dry-run', summary: 'say what would change, or conflict; change nothing' },
    JSON_OPTION,
  ],
  examples: [
    ['mahabharatha merge --dry-run', 'which files would change?'],
    ['mahabharatha merge --feature login --into main', 'bring it in'],
  ],
  run: async (input, context) => {
    const { mergeFeature } = await import('../merge/merge-feature.ts');
    return mergeFeature(input, context);
  },
};
