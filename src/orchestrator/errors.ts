import { defineErrors } from '../lib/app-error.ts';
import { counted, listed } from '../lib/text/words.ts';

const SHOWN = 5;

export const orchestratorErrors = defineErrors({
  BRANCH_TAKEN: {
    kind: 'usage',
    example: { feature: 'login', branch: 'mahabharatha/login/integration' },
    message: (f) =>
      `The branch ${f.branch} was made by another run of "${f.feature}" at the same moment, so this one has not begun, and has left nothing.`,
    hint: () => 'The other run is in another working tree of this repository: git worktree list shows them.',
  },
  MERGE_UNSOUND: {
    kind: 'environment',
    example: { branch: 'mahabharatha/login/integration', reason: 'the commit of B is not in it' },
    message: (f) => `What was merged for ${f.branch} is not what its tasks did: ${f.reason}.`,
    hint: () =>
      'No branch was moved, and the commits of all tasks are kept. Look at the repository with: git fsck — then go on with --resume, which merges anew what is missing.',
  },
  OBJECTS_GONE: {
    kind: 'environment',
    /** `base`: the run's base when objects of it are gone too, so that nothing is left to begin from; else empty. */
    example: {
      branch: 'mahabharatha/login/integration',
      objects: ['a'.repeat(40)],
      base: 'b'.repeat(40),
    },
    message: (f) =>
      `The repository has not all of ${f.branch} any more. Gone: ${counted(f.objects.length, 'object')} (${listed(f.objects, SHOWN)}), perhaps by a "git prune" beside the run.`,
    hint: (f) =>
      f.base === ''
        ? 'Go on with --resume: it merges again what is still there, and does the other tasks again.'
        : `Objects of ${f.base}, which the run began from, are among them, so they cannot be made again. Take them from another clone: git fetch --refetch <folder or URL of the clone> — then go on with --resume. Without another clone: remove the run with "mahabharatha cleanup", and begin again from a commit of which all is there.`,
  },
});
