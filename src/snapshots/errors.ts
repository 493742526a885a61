import { defineErrors } from '../lib/app-error.ts';

export const snapshotErrors = defineErrors({
  COMMIT_UNUSABLE: {
    kind: 'work',
    example: { commit: '1f5c0a9d7e34', reason: 'git reset failed: unable to create file x: File name too long' },
    message: (f) => `The commit ${f.commit.slice(0, 12)} of an attempt cannot be checked out: ${f.reason}.`,
    hint: () => 'The attempt has failed by that, and is told why: see mahabharatha status',
  },
  SETUP_FAILED: {
    kind: 'work',
    example: { reason: 'the set-up "npm ci" failed: exit status 1' },
    message: (f) => `Workers cannot be set up: ${f.reason}`,
    hint: () => 'See its whole output with: mahabharatha logs — mend workers.setup, then go on with --resume',
  },
  SNAPSHOT_FAILED: {
    kind: 'environment',
    example: { commit: '1f5c0a9d7e34', reason: 'killed by SIGKILL' },
    message: (f) => `The snapshot of ${f.commit.slice(0, 12)} that workers start from could not be made: ${f.reason}.`,
    hint: () => 'See what the engine and the disk say: docker info, df -h — then go on with --resume',
  },
});
