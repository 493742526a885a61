import { defineErrors } from '../lib/app-error.ts';

export const shellErrors = defineErrors({
  SHELL_NOT_READY: {
    kind: 'environment',
    example: { commit: '1f5c0a9d7e34', reason: 'its container ended with exit status 1' },
    message: (f) => `The container on ${f.commit.slice(0, 12)} could not be made ready: ${f.reason}.`,
    hint: () => 'See what the engine and the disk say: docker info, df -h — then try again.',
  },
});
