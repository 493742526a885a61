import { defineErrors } from '../lib/app-error.ts';

export const orchestratorErrors = defineErrors({
  MERGE_UNSOUND: {
    kind: 'environment',
    example: { branch: 'mahabharatha/login/integration', reason: 'the commit of B is not in it' },
    message: (f) => `What was merged for ${f.branch} is not what its tasks did: ${f.reason}.`,
    hint: () =>
      'No branch was moved, and the commits of all tasks are kept. Look at the repository with: git fsck — then go on with --resume, which merges anew what is missing.',
  },
});
