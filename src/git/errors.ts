import { defineErrors } from '../lib/app-error.ts';
import { counted, listed } from '../lib/text/words.ts';

export const gitErrors = defineErrors({
  BRANCH_BLOCKS_NAMESPACE: {
    kind: 'usage',
    example: { branch: 'mahabharatha', wanted: 'mahabharatha/login/integration' },
    message: (f) => `The branch "${f.branch}" is in the way: git cannot create "${f.wanted}" beside it.`,
    hint: (f) => `Rename it: git branch -m ${f.branch} <other-name>`,
  },
  BUNDLE_REFUSED: {
    kind: 'work',
    example: { reason: 'fsck: hasDotgit' },
    message: (f) => `A worker's bundle was refused: ${f.reason}`,
    hint: () => 'The task is tried again; see what the worker printed: mahabharatha logs',
  },
  GIT_FAILED: {
    kind: 'environment',
    example: { args: ['merge-tree', 'a', 'b'], cwd: '/repo', exit: 'exit status 128', stderr: '\n' },
    message: (f) => `git ${f.args.join(' ')} failed (${f.exit}) in ${f.cwd}: ${f.stderr.trim() || 'no message'}`,
    hint: () => 'Run the command by hand in that folder to see more.',
  },
  GIT_MISSING: {
    kind: 'environment',
    example: { reason: 'spawn git ENOENT' },
    message: (f) => `git cannot be started: ${f.reason}.`,
    hint: () => 'Install git 2.38 or newer and make sure that it is on the PATH.',
  },
  GIT_TOO_OLD: {
    kind: 'environment',
    example: { found: '2.37.0', needed: '2.38' },
    message: (f) => `git ${f.found} is too old: ${f.needed} or newer is needed (merging without a checkout).`,
    hint: () => 'Install a newer git and put it first on the PATH.',
  },
  INTEGRATION_CHECKED_OUT: {
    kind: 'environment',
    example: { branch: 'mahabharatha/login/integration', worktree: '/repo' },
    message: (f) =>
      `The branch "${f.branch}" is checked out in ${f.worktree}; if it were moved, git would show its new files there as deleted.`,
    hint: (f) =>
      `Check out another branch there, for example: git -C '${f.worktree}' switch --detach — then go on with --resume.`,
  },
  INTEGRATION_MOVED: {
    kind: 'work',
    example: { branch: 'mahabharatha/login/integration', expected: 'a'.repeat(40) },
    message: (f) => `The branch ${f.branch} was moved by someone else: expected it at ${f.expected.slice(0, 12)}.`,
    hint: (f) => `Put it back with: git update-ref refs/heads/${f.branch} ${f.expected} — then resume the run.`,
  },
  MERGE_CONFLICT: {
    kind: 'work',
    example: { branch: 'a', into: 'b', files: ['src/a.ts'] },
    message: (f) =>
      `${f.branch} and ${f.into} both changed ${counted(f.files.length, 'file')}: ${listed(f.files)}. Nothing was changed.`,
    hint: (f) => `Resolve it by hand: git switch ${f.into} && git merge ${f.branch}`,
  },
  MERGE_DIRTY: {
    kind: 'work',
    example: { into: 'main', worktree: '/repo', reason: 'local changes' },
    message: (f) =>
      `${f.into} is checked out in ${f.worktree} and could not be moved: ${f.reason}. Nothing was changed.`,
    hint: () =>
      'Commit what is named, move it away, or put it aside with: git stash --include-untracked — then merge again.',
  },
  MERGE_OVER_IGNORED: {
    kind: 'work',
    /** `files` are ignored and would be overwritten. */
    example: { into: 'main', worktree: '/repo', files: ['.env'] },
    message: (f) =>
      `The merge into ${f.into} would overwrite ${counted(f.files.length, 'file')} in ${f.worktree} that git ignores, so no commit has ${f.files.length === 1 ? 'it' : 'them'}: ${listed(f.files, 30)}. Nothing was changed.`,
    hint: () => 'Move them away, then merge again. Look first at why the branch has files that .gitignore covers.',
  },
  MERGE_NOT_IN_BRANCH: {
    kind: 'work',
    example: { into: 'main', worktree: '/repo' },
    message: (f) =>
      `${f.into} does not have the merge: at that moment it was moved, or something else was checked out in ${f.worktree}, which may have the merge now.`,
    hint: (f) =>
      `See what was moved: git -C '${f.worktree}' reflog — take that back with: git reset --keep HEAD@{1} — then merge again.`,
  },
  MERGE_NOT_THERE: {
    kind: 'work',
    example: { into: 'main', worktree: '/repo' },
    message: (f) => `${f.into} is not checked out in ${f.worktree} any more: something else is. Nothing was changed.`,
    hint: () => 'Merge again.',
  },
  NOT_A_REPOSITORY: {
    kind: 'usage',
    example: { path: '/x' },
    message: (f) => `${f.path} is not inside a git repository with a working tree.`,
    hint: () => 'Go to your project, or make it a repository with: git init && git add -A && git commit -m "first"',
  },
  NO_COMMIT_YET: {
    kind: 'usage',
    example: { path: '/x' },
    message: (f) => `The repository at ${f.path} has no commit yet, so there is nothing for workers to start from.`,
    hint: () => 'Make the first commit: git add -A && git commit -m "first"',
  },
  NO_REMOTE: {
    kind: 'usage',
    /** `remotes`: empty when there is none. */
    example: { branch: 'main', remotes: ['fork', 'upstream'] },
    message: (f) =>
      f.remotes.length === 0
        ? 'This repository has no remote, so there is no place for a pull request.'
        : `It is not clear where a pull request into ${f.branch} belongs: there are the remotes ${listed(f.remotes)}.`,
    hint: (f) =>
      f.remotes.length === 0
        ? 'Add one: git remote add origin URL'
        : `Say it once: git branch --set-upstream-to=${f.remotes[0]}/${f.branch} ${f.branch}`,
  },
  REF_UNKNOWN: {
    kind: 'usage',
    example: { ref: 'nothing' },
    message: (f) => `"${f.ref}" is not a commit, branch or tag of this repository.`,
    hint: () => 'See what there is with: git branch --all; git tag',
  },
});
