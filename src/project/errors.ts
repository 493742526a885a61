import { START_DOCKER } from '../engines/errors.ts';
import { defineErrors } from '../lib/app-error.ts';
import { inSeconds } from '../lib/text/amounts.ts';
import { didYouMean } from '../lib/text/nearest.ts';
import { bullets, clip, counted, indented, listed } from '../lib/text/words.ts';

/** In a failed run no task has tries left, so a resume alone does nothing. */
function goOn(feature: string, status: string): string {
  const tries = status === 'failed' ? `New tries for failed tasks: mahabharatha retry --feature ${feature}. ` : '';
  return `${tries}Go on with: mahabharatha kurukshetra --feature ${feature} --resume`;
}

export const projectErrors = defineErrors({
  CLEANUP_BLIND: {
    kind: 'environment',
    example: { feature: 'login', folder: '/state/login', problems: ['the engine does not answer'] },
    message: (f) =>
      `Nothing of "${f.feature}" was removed, because ${f.problems.join('; ')}. Its containers may be alive and write in the folders that would be removed.`,
    hint: (f) =>
      `Start the engine and clean up again. If that engine is gone for good: remove .mahabharatha/state/${f.feature}.json and ${f.folder} by hand, then clean up again.`,
  },
  CLEANUP_ELSEWHERE: {
    kind: 'usage',
    example: { feature: 'login', root: '/repo' },
    message: (f) => `The run of "${f.feature}" belongs to another working tree of this repository: ${f.root}.`,
    hint: (f) => `Clean up there: cd '${f.root}' && mahabharatha cleanup --feature ${f.feature}`,
  },
  CLEANUP_OUTDATED: {
    kind: 'usage',
    example: { feature: 'login' },
    message: (f) => `Nothing was removed: what there is of "${f.feature}" has changed since it was listed.`,
    hint: (f) => `See what would be removed now with: mahabharatha cleanup --feature ${f.feature} --dry-run`,
  },
  CONFIG_NOT_TRUSTED: {
    kind: 'usage',
    /** `lines`: the difference, as it may be shown. */
    example: { changes: ['.mahabharatha/config.yaml is new'], lines: ['+ workers:'] },
    message: (f) =>
      `This repository has settings that you have not approved on this machine:${bullets(f.changes)}${f.lines.length === 0 ? '' : '\n'}${indented(f.lines)}`,
    hint: () =>
      'Runs obey these files: look at them first. Then answer the question at a terminal, or add: --trust-config',
  },
  CONTAINERS_UNAVAILABLE: {
    kind: 'environment',
    example: { reasons: ['it has run in containers'], tried: ['/var/run/docker.sock: nothing listens there'] },
    message: (f) =>
      `No container engine can be reached, and mode auto uses no subprocesses here, because:${bullets(f.reasons)}\nLooked for an engine:${bullets(f.tried)}`,
    hint: () => `${START_DOCKER} For subprocesses, with your own rights: --mode subprocess`,
  },
  FEATURE_AMBIGUOUS: {
    kind: 'usage',
    example: { features: ['login', 'search'] },
    message: (f) => `It is not clear which feature is meant: ${listed(f.features)}.`,
    hint: () => 'Say which one with --feature NAME. How they stand: mahabharatha list',
  },
  FEATURE_MERGED: {
    kind: 'usage',
    example: { feature: 'login', commit: 'a'.repeat(40) },
    message: (f) => `Feature "${f.feature}" was merged already, in commit ${f.commit.slice(0, 10)}.`,
    hint: (f) =>
      `Look at it with: git show ${f.commit} — or build it once more with: mahabharatha kurukshetra --feature ${f.feature} --again`,
  },
  FEATURE_NAME_INVALID: {
    kind: 'usage',
    example: { feature: '../x' },
    message: (f) => `"${clip(f.feature, 80)}" cannot be a feature name: it becomes part of branch and folder names.`,
    hint: () =>
      'Use letters, digits, dots, dashes and underscores; start with a letter or digit; 64 characters at most; no ".planning" at the end, which the runs of agents that plan have.',
  },
  FEATURE_UNKNOWN: {
    kind: 'usage',
    /** `feature`: empty when none was named and there is none. */
    example: { feature: 'login', known: [] },
    message: (f) =>
      f.feature === ''
        ? 'This repository has no feature yet.'
        : `There is no feature "${f.feature}" here. Known: ${listed(f.known)}.`,
    hint: (f) =>
      `${didYouMean(f.feature, f.known)}A feature is a folder .mahabharatha/specs/<feature>/ with a task-graph.json; start with: mahabharatha init`,
  },
  IMAGE_NOT_BUILT: {
    kind: 'environment',
    /** `command`: of the run; empty where a person has started none. */
    example: { image: 'of the workers', command: 'mahabharatha kurukshetra --feature login' },
    message: (f) => `There is no image ${f.image}.`,
    hint: (f) =>
      `Build it with: mahabharatha build${f.command === '' ? '' : ` — or let the run do it: ${f.command} --auto-build`}. For subprocesses, with your own rights: --mode subprocess`,
  },
  MERGE_BRANCH_GONE: {
    kind: 'usage',
    example: { feature: 'login', branch: 'mahabharatha/login/integration' },
    message: (f) => `The branch "${f.branch}" is gone; the run had its work on it.`,
    hint: (f) =>
      `Make it again with: mahabharatha kurukshetra --feature ${f.feature} --resume — if the work is merged already: mahabharatha cleanup --feature ${f.feature}`,
  },
  MERGE_NOT_READY: {
    kind: 'work',
    example: { feature: 'login', status: 'paused' },
    message: (f) =>
      `The run of "${f.feature}" is ${f.status}, not complete; merging now would bring in half a feature.`,
    hint: (f) =>
      `${goOn(f.feature, f.status)} — or take what is there with: mahabharatha merge --feature ${f.feature} --partial`,
  },
  MERGE_TARGET_UNCLEAR: {
    kind: 'usage',
    example: { reason: 'HEAD is detached' },
    message: (f) => `It is not clear which branch to merge into: ${f.reason}.`,
    hint: () => 'Name it with --into BRANCH.',
  },
  MODE_UNAVAILABLE: {
    kind: 'environment',
    example: { mode: 'container', reason: 'no Docker' },
    message: (f) => `--mode ${f.mode} is not available: ${f.reason}.`,
    hint: () => 'Use --mode subprocess; mind that workers then run with your own rights on this machine.',
  },
  MODE_UNCLEAR: {
    kind: 'environment',
    example: { feature: 'login', begun: 'subprocess', reasons: ['it has run in containers on this machine'] },
    message: (f) =>
      `The run of "${f.feature}" was begun in mode ${f.begun}, and mode auto uses no subprocesses here, because:${bullets(f.reasons)}`,
    hint: () => `Choose one: --mode container, or, with your own rights: --mode subprocess`,
  },
  NOTHING_TO_RESUME: {
    kind: 'usage',
    example: { feature: 'login' },
    message: (f) => `There is no run of "${f.feature}" to resume.`,
    hint: (f) => `Start one with: mahabharatha kurukshetra --feature ${f.feature}`,
  },
  NO_RUN: {
    kind: 'usage',
    /** Several: none was named, and none of them has one. */
    example: { features: ['login'] },
    message: (f) => `There is no run of ${listed(f.features.map((feature) => `"${feature}"`))}.`,
    hint: (f) =>
      `Start one with: mahabharatha kurukshetra --feature ${f.features.length === 1 ? f.features[0] : 'NAME'} — how features stand: mahabharatha list`,
  },
  PULL_REQUEST_FAILED: {
    kind: 'environment',
    /** `command`: to try again by hand. */
    example: { reason: 'gh ended with exit status 4: not logged in', file: '/repo/body.md', command: 'gh pr create' },
    message: (f) => `The branch is pushed, but no pull request was opened: ${f.reason}`,
    hint: (f) => `Its text is in ${f.file}. Once the cause is mended: ${f.command}`,
  },
  RUN_ELSEWHERE: {
    kind: 'usage',
    /** `state`: its state there; `here`: this working tree has a state of that feature, too. */
    example: { feature: 'login', root: '/repo', state: '/repo/.mahabharatha/state/login.json', here: true },
    message: (f) =>
      `The run of "${f.feature}" belongs to another working tree of this repository: ${f.root}. Its branches are those of the whole repository.`,
    hint: (f) =>
      `Go on there, or clean up there: mahabharatha cleanup --feature ${f.feature}` +
      (f.here
        ? ` — both trees have a state of it: if the run is the one of this tree, remove the other's: rm '${f.state}'`
        : ''),
  },
  RUN_EXISTS: {
    kind: 'usage',
    example: { feature: 'login', status: 'complete' },
    message: (f) => `Feature "${f.feature}" already has a run (${f.status}).`,
    hint: (f) =>
      f.status === 'complete'
        ? `Bring it in with: mahabharatha merge --feature ${f.feature} — or start over with: mahabharatha cleanup --feature ${f.feature}`
        : `${goOn(f.feature, f.status)} — or start over with: mahabharatha cleanup --feature ${f.feature}`,
  },
  RUN_FILES_COMMITTED: {
    kind: 'usage',
    example: { files: ['.mahabharatha/state/login.json'] },
    message: (f) =>
      `This repository has ${counted(f.files.length, 'committed file')} where runs write what is for this machine alone: ${listed(f.files, 5)}. Such a file could steer a run, or lead it or a clean-up to files outside the repository.`,
    hint: (f) => {
      const places = new Set(f.files.map((file) => `'${file.split('/').slice(0, 2).join('/')}'`));
      return `Look at who has committed them, then remove them: git rm -r ${[...places].join(' ')}`;
    },
  },
  RUN_LIVE: {
    kind: 'usage',
    example: { feature: 'login', pid: 7 },
    message: (f) => `Feature "${f.feature}" is being built right now by process ${f.pid}.`,
    hint: (f) => `End it first with: mahabharatha stop --feature ${f.feature}`,
  },
  SHELL_WITHOUT_CONTAINER: {
    kind: 'usage',
    /** `worktree`: empty when there is none. */
    example: { feature: 'login', worktree: '/state/login/0/mahabharatha-worker-0' },
    message: (f) => `The run of "${f.feature}" works in subprocesses: there is no container for a shell.`,
    hint: (f) =>
      f.worktree === ''
        ? `See what it has done with: mahabharatha status --feature ${f.feature}`
        : `Its worktree is a folder of this machine: cd '${f.worktree}'`,
  },
  STOP_SLOW: {
    kind: 'environment',
    example: { feature: 'login', pid: 7, waitedMs: 60_000 },
    message: (f) => `The run of "${f.feature}" (process ${f.pid}) has not ended within ${inSeconds(f.waitedMs)}.`,
    hint: (f) =>
      `Look at it with: mahabharatha status --feature ${f.feature} — or end it the hard way: kill -9 ${f.pid}; its workers then end by themselves.`,
  },
  TASK_NOT_RETRYABLE: {
    kind: 'usage',
    /** `waitsFor`: the failed tasks that block it. */
    example: { feature: 'login', task: 'T-1', status: 'running', waitsFor: [] },
    message: (f) =>
      f.waitsFor.length === 0
        ? `Task ${f.task} is ${f.status}; only failed tasks can be retried.`
        : `Task ${f.task} is ${f.status}: it waits for ${listed(f.waitsFor)}, which failed.`,
    hint: (f) =>
      f.waitsFor.length === 0
        ? `See all tasks with: mahabharatha status --feature ${f.feature}`
        : `New tries for ${f.waitsFor.length === 1 ? 'that one' : 'all of these'} bring this one along: ${f.waitsFor.map((id) => `mahabharatha retry ${id} --feature ${f.feature}`).join('; ')}`,
  },
  TASK_UNKNOWN: {
    kind: 'usage',
    example: { task: 'T-9', known: ['T-1'] },
    message: (f) => `There is no task "${f.task}" in this run.`,
    hint: (f) =>
      `${didYouMean(f.task, f.known)}Tasks: ${listed(f.known)}. The name of a feature goes behind --feature.`,
  },
  WORKER_IDLE: {
    kind: 'usage',
    example: { feature: 'login', worker: 2 },
    message: (f) => `Worker ${f.worker} works on nothing now, so it has no container.`,
    hint: (f) =>
      `Name a task for a container on the commit of its last attempt: mahabharatha shell TASK --feature ${f.feature}. See which there are: mahabharatha status --feature ${f.feature}`,
  },
  TRACES_LEFT: {
    kind: 'usage',
    /** `merged`: tasks whose work is in the integration branch. */
    example: { feature: 'login', refs: ['refs/heads/mahabharatha/login/integration'], merged: ['A'] },
    message: (f) =>
      `The state of the run of "${f.feature}" is gone: there is no .mahabharatha/state/${f.feature}.json (git clean -x removes it). Its work is still in ${counted(f.refs.length, 'ref')}: ${listed(f.refs, 30)}.` +
      (f.merged.length === 0
        ? ''
        : ` Branch mahabharatha/${f.feature}/integration has the work of ${listed(f.merged, 30)}.`) +
      ' Without the state the run cannot go on, and starting anew would lose that work.',
    hint: (f) =>
      f.merged.length === 0
        ? `Look at it with git log --all, keep what you need, then: mahabharatha cleanup --feature ${f.feature}`
        : `Go on from what is merged with: git branch ${f.feature}-kept mahabharatha/${f.feature}/integration, then mahabharatha cleanup --feature ${f.feature}, then mahabharatha kurukshetra --feature ${f.feature} --base ${f.feature}-kept --again — take the tasks that are merged out of the task graph before, and keep what else you need of the refs.`,
  },
});
