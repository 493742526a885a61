import { defineErrors } from '../lib/app-error.ts';

export const cliErrors = defineErrors({
  CLEANUP_UNCONFIRMED: {
    kind: 'usage',
    example: { feature: 'login' },
    message: (f) => `Nothing was removed: cleaning up "${f.feature}" was not confirmed.`,
    hint: () => 'See what would be removed with --dry-run; without a terminal add --yes.',
  },
  DEMO_FOLDER_NOT_EMPTY: {
    kind: 'usage',
    example: { path: '/tmp/demo' },
    message: (f) => `${f.path} is not empty.`,
    hint: () => 'Name an empty or new folder, or leave --dir out to get a temporary one.',
  },
});
