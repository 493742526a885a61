/* oxlint-disable max-lines -- a registry: one entry per code, each a few lines */
/** Who can mend it: the user's input, the machine, the work itself, or us. */
type ErrorKind = 'usage' | 'environment' | 'work' | 'bug';

const EXIT_BY_KIND: Record<ErrorKind, number> = { usage: 2, environment: 4, work: 1, bug: 1 };

/** What must be known to raise each error. A code that is missing in the registry below does not compile. */
export type ErrorFacts = {
  ALREADY_RUNNING: { feature: string; pid: number; since: string };
  AGENT_UNUSABLE: { agent: string; tasks: number; reason: string; remedy: string };
  AGENT_UNCONFINED: { agent: string; tasks: number };
  AGENT_UNKNOWN: { agent: string; known: readonly string[] };
  BUNDLE_REFUSED: { reason: string };
  BRANCH_BLOCKS_NAMESPACE: { branch: string; wanted: string };
  CONFIG_INVALID: { file: string; problems: readonly string[] };
  /** `lines`: the difference, as it may be shown. */
  CONFIG_NOT_TRUSTED: { changes: readonly string[]; lines: readonly string[] };
  CONTAINERS_UNAVAILABLE: { reasons: readonly string[]; tried: readonly string[] };
  CONTAINER_NAME_TAKEN: { name: string };
  CREDENTIALS_MISSING: { reason: string; tasks: number };
  CREDENTIALS_INVALID: { source: string; reason: string };
  DEMO_FOLDER_NOT_EMPTY: { path: string };
  ENGINE_FAILED: { call: string; reason: string };
  ENGINE_TIMEOUT: { call: string; place: string; waitedMs: number };
  ENGINE_UNREACHABLE: { tried: readonly string[] };
  FEATURE_AMBIGUOUS: { features: readonly string[] };
  FEATURE_NAME_INVALID: { feature: string };
  FEATURE_UNKNOWN: { feature: string; known: readonly string[] };
  FILE_UNREADABLE: { file: string; reason: string };
  FILE_UNWRITABLE: { file: string; reason: string };
  FOLDER_UNSAFE: { folder: string; reason: string };
  GIT_FAILED: { args: readonly string[]; cwd: string; exit: string; stderr: string };
  GIT_MISSING: { reason: string };
  GIT_TOO_OLD: { found: string; needed: string };
  GRAPH_INVALID: { file: string; problems: readonly string[] };
  GRAPH_MISSING: { file: string };
  IMAGE_BUILD_FAILED: { image: string; reason: string; output: readonly string[] };
  IMAGE_MISSING: { image: string };
  INTERNAL: { what: string };
  INTEGRATION_MOVED: { branch: string; expected: string };
  INTEGRATION_CHECKED_OUT: { branch: string; worktree: string };
  LOCK_BUSY: { file: string; pid: number; waitedMs: number };
  LOCK_FOREIGN: { file: string; pid: number; host: string };
  LOCK_LOST: { feature: string; file: string; pid: number; host: string };
  MERGE_CONFLICT: { branch: string; into: string; files: readonly string[] };
  MERGE_DIRTY: { into: string; worktree: string; reason: string };
  MERGE_UNSOUND: { branch: string; reason: string };
  /** `files`: those that git is to ignore, and would write over. */
  MERGE_OVER_IGNORED: { into: string; worktree: string; files: readonly string[] };
  MERGE_NOT_READY: { feature: string; status: string };
  MERGE_TARGET_UNCLEAR: { reason: string };
  MODE_UNCLEAR: { feature: string; begun: string; reasons: readonly string[] };
  MODE_UNAVAILABLE: { mode: string; reason: string };
  NOTHING_TO_RESUME: { feature: string };
  NOT_A_REPOSITORY: { path: string };
  NO_COMMIT_YET: { path: string };
  NO_RUN: { feature: string };
  PROCESS_NOT_STARTED: { command: string; reason: string };
  REF_UNKNOWN: { ref: string };
  RESOURCES_EXHAUSTED: { what: string; reason: string };
  RUN_EXISTS: { feature: string; status: string };
  RUN_LIVE: { feature: string; pid: number };
  STATE_INVALID: { file: string; problems: readonly string[] };
  STATE_VERSION: { file: string; found: string; known: number };
  STOP_SLOW: { feature: string; pid: number; waitedMs: number };
  CLEANUP_BLIND: { feature: string; folder: string; problems: readonly string[] };
  CLEANUP_ELSEWHERE: { feature: string; root: string };
  CLEANUP_OUTDATED: { feature: string };
  CLEANUP_UNCONFIRMED: { feature: string };
  /** `merged`: tasks whose work is in the integration branch. */
  TRACES_LEFT: { feature: string; refs: readonly string[]; merged: readonly string[] };
  /** `waitsFor`: the failed tasks that block it. */
  TASK_NOT_RETRYABLE: { feature: string; task: string; status: string; waitsFor: readonly string[] };
  TASK_UNKNOWN: { task: string; known: readonly string[] };
  USAGE: { problem: string; hint: string };
};

export type ErrorCode = keyof ErrorFacts;

interface ErrorSpec<Facts> {
  readonly kind: ErrorKind;
  readonly message: (facts: Facts) => string;
  /** What to do next, in one sentence or command. */
  readonly hint: (facts: Facts) => string;
}

const START_DOCKER =
  'Start Docker (Linux: sudo systemctl start docker; macOS: open -a Docker), or say where it is with DOCKER_HOST.';
const ON_THE_HOST = '--mode subprocess';

const list = (items: readonly string[]): string => (items.length === 0 ? 'none' : items.join(', '));
const SHOWN = 30;
const some = (items: readonly string[]): string =>
  list(items.slice(0, SHOWN)) + (items.length > SHOWN ? ` and ${items.length - SHOWN} more` : '');
const bullets = (items: readonly string[]): string => items.map((item) => `\n  - ${item}`).join('');
const lines = (items: readonly string[]): string => items.map((item) => `\n  ${item}`).join('');
const count = (items: readonly string[], noun: string): string =>
  `${items.length} ${noun}${items.length === 1 ? '' : 's'}`;

const REGISTRY: { readonly [Code in ErrorCode]: ErrorSpec<ErrorFacts[Code]> } = {
  ALREADY_RUNNING: {
    kind: 'usage',
    message: (f) => `Feature "${f.feature}" is already being built by process ${f.pid} (since ${f.since}).`,
    hint: (f) =>
      `Watch it with: mahabharatha status --feature ${f.feature} --watch — or end it with: mahabharatha stop --feature ${f.feature}`,
  },
  AGENT_UNUSABLE: {
    kind: 'environment',
    message: (f) =>
      `The agent "${f.agent}" cannot be used: ${f.reason}. ${f.tasks} ${f.tasks === 1 ? 'task needs' : 'tasks need'} an agent.`,
    hint: (f) => f.remedy,
  },
  AGENT_UNCONFINED: {
    kind: 'environment',
    message: (f) =>
      `There is no container engine on this machine, and ${f.tasks} of the tasks ${f.tasks === 1 ? 'is' : 'are'} for the agent "${f.agent}", which would act with your own rights and without asking.`,
    hint: () =>
      `Install Docker and run: mahabharatha build — or, if you trust agent and repository with all that you may do here, say so: ${ON_THE_HOST}`,
  },
  AGENT_UNKNOWN: {
    kind: 'usage',
    message: (f) => `There is no agent called "${f.agent}".`,
    hint: (f) => `Known agents: ${list(f.known)}. Others are defined under "agents:" in .mahabharatha/config.yaml.`,
  },
  BUNDLE_REFUSED: {
    kind: 'work',
    message: (f) => `A worker's bundle was refused: ${f.reason}`,
    hint: () => 'Its task tries again; what the worker printed says more: mahabharatha logs',
  },
  BRANCH_BLOCKS_NAMESPACE: {
    kind: 'usage',
    message: (f) => `The branch "${f.branch}" is in the way: git cannot create "${f.wanted}" beside it.`,
    hint: (f) => `Rename it: git branch -m ${f.branch} <other-name>`,
  },
  CONFIG_INVALID: {
    kind: 'usage',
    message: (f) => `${f.file} has ${count(f.problems, 'problem')}:${bullets(f.problems)}`,
    hint: () =>
      'Mend the lines above; every key is described in schemas/ of the package (config.schema.json, settings.schema.json).',
  },
  CONFIG_NOT_TRUSTED: {
    kind: 'usage',
    message: (f) =>
      `This repository has settings that you have not approved on this machine:${bullets(f.changes)}${f.lines.length === 0 ? '' : '\n'}${lines(f.lines)}`,
    hint: () =>
      'Runs obey these files: look at them first. Then answer the question at a terminal, or say so with: --trust-config',
  },
  CONTAINERS_UNAVAILABLE: {
    kind: 'environment',
    message: (f) =>
      `No container engine can be reached, and mode auto does not go without containers here, because:${bullets(f.reasons)}\nLooked for an engine:${bullets(f.tried)}`,
    hint: () => `${START_DOCKER} To do without containers, with your own rights: ${ON_THE_HOST}`,
  },
  CONTAINER_NAME_TAKEN: {
    kind: 'environment',
    message: (f) => `There is a container called "${f.name}" already.`,
    hint: (f) =>
      `See whose it is with: docker inspect ${f.name} — when nobody needs it, remove it with: docker rm --force ${f.name}`,
  },
  CREDENTIALS_MISSING: {
    kind: 'environment',
    message: (f) =>
      `Claude Code has nothing to prove itself with in a container: ${f.reason}. ${f.tasks} of the tasks need it.`,
    hint: () =>
      'Set CLAUDE_CODE_OAUTH_TOKEN (from: claude setup-token) or ANTHROPIC_API_KEY, or run "claude" once and log in.',
  },
  CREDENTIALS_INVALID: {
    kind: 'environment',
    message: (f) => `The login of Claude Code in ${f.source} cannot be used: ${f.reason}.`,
    hint: () =>
      'Run "claude" once and log in, or set CLAUDE_CODE_OAUTH_TOKEN (from: claude setup-token) or ANTHROPIC_API_KEY.',
  },
  DEMO_FOLDER_NOT_EMPTY: {
    kind: 'usage',
    message: (f) => `${f.path} is not empty.`,
    hint: () => 'Name an empty or new folder, or leave --dir out to get a temporary one.',
  },
  ENGINE_FAILED: {
    kind: 'environment',
    message: (f) => `The container engine could not ${f.call}: ${f.reason}.`,
    hint: () => 'See the state of the engine with: docker info — its own log has more: journalctl --unit docker',
  },
  ENGINE_TIMEOUT: {
    kind: 'environment',
    message: (f) =>
      `The container engine at ${f.place} was asked to ${f.call} and has not answered within ${f.waitedMs / 1000} s.`,
    hint: () => 'It hangs or is overloaded. Try: docker ps — when that hangs too, restart the engine.',
  },
  ENGINE_UNREACHABLE: {
    kind: 'environment',
    message: (f) => `No container engine can be reached:${bullets(f.tried)}`,
    hint: () => START_DOCKER,
  },
  FEATURE_AMBIGUOUS: {
    kind: 'usage',
    message: (f) => `There are ${f.features.length} features here: ${list(f.features)}.`,
    hint: () => 'Say which one with --feature NAME.',
  },
  FEATURE_NAME_INVALID: {
    kind: 'usage',
    message: (f) => `"${f.feature}" cannot be a feature name: it becomes part of branch and folder names.`,
    hint: () =>
      'Use letters, digits, dots, dashes and underscores; start with a letter or digit; 64 characters at most.',
  },
  FEATURE_UNKNOWN: {
    kind: 'usage',
    message: (f) => `There is no feature "${f.feature}" here. Known: ${list(f.known)}.`,
    hint: () =>
      'A feature is a folder .mahabharatha/specs/<feature>/ with a task-graph.json; start with: mahabharatha init',
  },
  FILE_UNREADABLE: {
    kind: 'environment',
    message: (f) => `${f.file} cannot be read: ${f.reason}.`,
    hint: () => 'Check that the file exists and that you may read it.',
  },
  FILE_UNWRITABLE: {
    kind: 'environment',
    message: (f) => `${f.file} cannot be written: ${f.reason}.`,
    hint: () =>
      'Make room on the disk, or mend its rights or the disk itself, then go on with --resume: what was finished is kept.',
  },
  FOLDER_UNSAFE: {
    kind: 'environment',
    message: (f) =>
      `${f.folder} cannot be used: ${f.reason}. What workers write, and what you have approved, must be out of reach for other users and for your own tools.`,
    hint: () =>
      'Mend it, or name another folder: workers.folder in .mahabharatha/config.yaml, or XDG_STATE_HOME in your environment.',
  },
  GIT_FAILED: {
    kind: 'environment',
    message: (f) => `git ${f.args.join(' ')} failed (${f.exit}) in ${f.cwd}: ${f.stderr.trim() || 'no message'}`,
    hint: () => 'Run the command by hand in that folder to see more.',
  },
  GIT_MISSING: {
    kind: 'environment',
    message: (f) => `git cannot be started: ${f.reason}.`,
    hint: () => 'Install git 2.38 or newer and make sure that it is on the PATH.',
  },
  GIT_TOO_OLD: {
    kind: 'environment',
    message: (f) => `git ${f.found} is too old: ${f.needed} or newer is needed (merging without a checkout).`,
    hint: () => 'Install a newer git and put it first on the PATH.',
  },
  GRAPH_INVALID: {
    kind: 'usage',
    message: (f) => `${f.file} has ${count(f.problems, 'problem')}:${bullets(f.problems)}`,
    hint: () => 'Mend the entries above; the format is described in schemas/task-graph.schema.json.',
  },
  GRAPH_MISSING: {
    kind: 'usage',
    message: (f) => `There is no task graph at ${f.file}.`,
    hint: () => 'Write one there, or name another file with --task-graph PATH. mahabharatha init writes an example.',
  },
  IMAGE_BUILD_FAILED: {
    kind: 'environment',
    message: (f) => `Building the image ${f.image} failed: ${f.reason}${lines(f.output)}`,
    hint: () => 'Mend what the last lines complain about, then build again with: mahabharatha build',
  },
  IMAGE_MISSING: {
    kind: 'environment',
    message: (f) => `There is no image ${f.image}.`,
    hint: () =>
      `Build it with: mahabharatha build — or let a run do it: mahabharatha kurukshetra --auto-build. To do without containers, with your own rights: ${ON_THE_HOST}`,
  },
  INTERNAL: {
    kind: 'bug',
    message: (f) => `Internal error: ${f.what}`,
    hint: () => 'This is a bug in Mahabharatha. Please report it with the output of --debug.',
  },
  INTEGRATION_MOVED: {
    kind: 'work',
    message: (f) => `The branch ${f.branch} was moved by someone else: expected it at ${f.expected.slice(0, 12)}.`,
    hint: (f) => `Put it back with: git update-ref refs/heads/${f.branch} ${f.expected} — then resume the run.`,
  },
  INTEGRATION_CHECKED_OUT: {
    kind: 'environment',
    message: (f) =>
      `The branch "${f.branch}" is checked out in ${f.worktree}; if it moved now, git would show its new files there as deleted.`,
    hint: (f) =>
      `Check out another branch there, for example: git -C '${f.worktree}' switch --detach — then go on with --resume.`,
  },
  LOCK_BUSY: {
    kind: 'environment',
    message: (f) => `${f.file} is held by process ${f.pid}; gave up after ${Math.round(f.waitedMs / 1000)} s.`,
    hint: (f) => `Wait for process ${f.pid} to finish, or end it, then try again.`,
  },
  LOCK_FOREIGN: {
    kind: 'environment',
    message: (f) =>
      `${f.file} is held by process ${f.pid} of the host ${f.host}; from here it cannot be seen whether that is alive.`,
    hint: (f) =>
      `Go on at ${f.host} — or, when that host is gone or has another name now and nothing runs there, remove the lock: rm '${f.file}'`,
  },
  LOCK_LOST: {
    kind: 'environment',
    message: (f) =>
      `The lock of the run of "${f.feature}" was removed (${f.file}), and process ${f.pid} on ${f.host} has taken it since: this run has stopped, and its state was left to that process.`,
    hint: (f) => `See what goes on now with: mahabharatha status --feature ${f.feature}`,
  },
  MERGE_CONFLICT: {
    kind: 'work',
    message: (f) =>
      `${f.branch} and ${f.into} both changed ${count(f.files, 'file')}: ${list(f.files)}. Nothing was changed.`,
    hint: (f) => `Resolve it by hand: git switch ${f.into} && git merge ${f.branch}`,
  },
  MERGE_DIRTY: {
    kind: 'work',
    message: (f) =>
      `${f.into} is checked out in ${f.worktree} and could not be moved: ${f.reason}. Nothing was changed.`,
    hint: () => 'Commit, stash or move those local changes away, then merge again.',
  },
  MERGE_UNSOUND: {
    kind: 'environment',
    message: (f) => `What was merged for ${f.branch} is not what its tasks did: ${f.reason}.`,
    hint: () =>
      'No branch was moved, and the commits of all tasks are kept. Look at the repository with: git fsck — then go on with --resume, which merges anew what is missing.',
  },
  MERGE_OVER_IGNORED: {
    kind: 'work',
    message: (f) =>
      `The merge into ${f.into} would write over ${count(f.files, 'file')} in ${f.worktree} that git ignores, so no commit has ${f.files.length === 1 ? 'it' : 'them'}: ${some(f.files)}. Nothing was changed.`,
    hint: () =>
      'Move them out of the way, then merge again. A branch that brings files which .gitignore covers is worth a look first.',
  },
  MERGE_NOT_READY: {
    kind: 'work',
    message: (f) =>
      `The run of "${f.feature}" is ${f.status}, not complete; merging now would bring in half a feature.`,
    hint: (f) =>
      `Finish it with: mahabharatha kurukshetra --feature ${f.feature} --resume — or take what is there with: mahabharatha merge --feature ${f.feature} --partial`,
  },
  MERGE_TARGET_UNCLEAR: {
    kind: 'usage',
    message: (f) => `It is not clear which branch to merge into: ${f.reason}.`,
    hint: () => 'Name it with --into BRANCH.',
  },
  MODE_UNCLEAR: {
    kind: 'environment',
    message: (f) =>
      `The run of "${f.feature}" was begun in mode ${f.begun}, and mode auto does not go without containers here, because:${bullets(f.reasons)}`,
    hint: () => `Say which is meant: --mode container, or, with your own rights: ${ON_THE_HOST}`,
  },
  MODE_UNAVAILABLE: {
    kind: 'environment',
    message: (f) => `--mode ${f.mode} is not available: ${f.reason}.`,
    hint: () => 'Use --mode subprocess; mind that workers then run with your own rights on this machine.',
  },
  NOTHING_TO_RESUME: {
    kind: 'usage',
    message: (f) => `There is no run of "${f.feature}" to resume.`,
    hint: (f) => `Start one with: mahabharatha kurukshetra --feature ${f.feature}`,
  },
  NOT_A_REPOSITORY: {
    kind: 'usage',
    message: (f) => `${f.path} is not inside a git repository with a working tree.`,
    hint: () => 'Go to your project, or make it a repository with: git init && git add -A && git commit -m "first"',
  },
  NO_COMMIT_YET: {
    kind: 'usage',
    message: (f) => `The repository at ${f.path} has no commit yet, so there is nothing for workers to start from.`,
    hint: () => 'Make the first commit: git add -A && git commit -m "first"',
  },
  NO_RUN: {
    kind: 'usage',
    message: (f) => `There is no run of "${f.feature}".`,
    hint: (f) => `Start one with: mahabharatha kurukshetra --feature ${f.feature}`,
  },
  PROCESS_NOT_STARTED: {
    kind: 'environment',
    message: (f) => `"${f.command}" could not be started: ${f.reason}.`,
    hint: (f) => `Check that "${f.command}" is installed and on the PATH.`,
  },
  RESOURCES_EXHAUSTED: {
    kind: 'environment',
    message: (f) => `${f.what} was not possible: ${f.reason}.`,
    hint: () =>
      'End what uses it up or raise the limit (ulimit -n for open files, ulimit -u for processes), then go on with --resume: what was finished is kept.',
  },
  REF_UNKNOWN: {
    kind: 'usage',
    message: (f) => `"${f.ref}" is not a commit, branch or tag of this repository.`,
    hint: () => 'See what there is with: git branch --all; git tag',
  },
  RUN_EXISTS: {
    kind: 'usage',
    message: (f) => `Feature "${f.feature}" already has a run (${f.status}).`,
    hint: (f) =>
      f.status === 'complete'
        ? `Bring it in with: mahabharatha merge --feature ${f.feature} — or start over with: mahabharatha cleanup --feature ${f.feature}`
        : `Go on with: mahabharatha kurukshetra --feature ${f.feature} --resume — or start over with: mahabharatha cleanup --feature ${f.feature}`,
  },
  RUN_LIVE: {
    kind: 'usage',
    message: (f) => `Feature "${f.feature}" is being built right now by process ${f.pid}.`,
    hint: (f) => `End it first with: mahabharatha stop --feature ${f.feature}`,
  },
  STATE_INVALID: {
    kind: 'environment',
    message: (f) => `${f.file} cannot be used:${bullets(f.problems)}`,
    hint: () =>
      'Nothing was changed. Restore the file, or remove the run with: mahabharatha cleanup (branches are listed before anything goes).',
  },
  STATE_VERSION: {
    kind: 'environment',
    message: (f) => `${f.file} has version ${f.found}; this program knows version ${f.known}.`,
    hint: () => 'Use the version of Mahabharatha that wrote it, or clean the run up with that version.',
  },
  STOP_SLOW: {
    kind: 'environment',
    message: (f) =>
      `The run of "${f.feature}" (process ${f.pid}) has not ended within ${Math.round(f.waitedMs / 1000)} s.`,
    hint: (f) =>
      `Look at it with: mahabharatha status --feature ${f.feature} — or end it the hard way: kill -9 ${f.pid}; its workers then end by themselves.`,
  },
  CLEANUP_BLIND: {
    kind: 'environment',
    message: (f) =>
      `Nothing of "${f.feature}" was removed, because ${f.problems.join('; ')}. Its containers may live and write in the folders that are to go.`,
    hint: (f) =>
      `Start the engine and clean up again. If that engine is gone for good: remove .mahabharatha/state/${f.feature}.json and ${f.folder} by hand, then clean up again.`,
  },
  CLEANUP_ELSEWHERE: {
    kind: 'usage',
    message: (f) => `The run of "${f.feature}" belongs to another working tree of this repository: ${f.root}.`,
    hint: (f) =>
      `Clean up there: mahabharatha cleanup --feature ${f.feature} — if nothing of it is needed, remove that tree: git worktree remove --force '${f.root}'`,
  },
  CLEANUP_OUTDATED: {
    kind: 'usage',
    message: (f) => `Nothing was removed: what there is of "${f.feature}" has changed since it was listed.`,
    hint: (f) => `Look at what would go now with: mahabharatha cleanup --feature ${f.feature} --dry-run`,
  },
  CLEANUP_UNCONFIRMED: {
    kind: 'usage',
    message: (f) => `Nothing was removed: cleaning up "${f.feature}" was not confirmed.`,
    hint: () => 'See what would go with --dry-run; without a terminal say --yes.',
  },
  TRACES_LEFT: {
    kind: 'usage',
    message: (f) =>
      `The state of the run of "${f.feature}" is gone: there is no .mahabharatha/state/${f.feature}.json (git clean -x removes it). Its work is still in ${count(f.refs, 'ref')}: ${some(f.refs)}.` +
      (f.merged.length === 0
        ? ''
        : ` Branch mahabharatha/${f.feature}/integration has the work of ${some(f.merged)}.`) +
      ' Without the state the run cannot go on, and starting anew would lose that work.',
    hint: (f) =>
      f.merged.length === 0
        ? `Look at it with git log --all, keep what you need, then: mahabharatha cleanup --feature ${f.feature}`
        : `Go on from what is merged with: git branch ${f.feature}-kept mahabharatha/${f.feature}/integration, then mahabharatha cleanup --feature ${f.feature}, then mahabharatha kurukshetra --feature ${f.feature} --base ${f.feature}-kept — take the tasks that are merged out of the task graph before, and keep what else you need of the refs.`,
  },
  TASK_NOT_RETRYABLE: {
    kind: 'usage',
    message: (f) =>
      f.waitsFor.length === 0
        ? `Task ${f.task} is ${f.status}; only failed tasks can be retried.`
        : `Task ${f.task} is ${f.status}: it waits for ${list(f.waitsFor)}, which failed.`,
    hint: (f) =>
      f.waitsFor.length === 0
        ? `See all tasks with: mahabharatha status --feature ${f.feature}`
        : `New tries for ${f.waitsFor.length === 1 ? 'that one' : 'all of these'} bring this one along: ${f.waitsFor.map((id) => `mahabharatha retry ${id} --feature ${f.feature}`).join('; ')}`,
  },
  TASK_UNKNOWN: {
    kind: 'usage',
    message: (f) => `There is no task "${f.task}" in this run.`,
    hint: (f) => `Tasks: ${list(f.known)}`,
  },
  USAGE: { kind: 'usage', message: (f) => f.problem, hint: (f) => f.hint },
};

interface ErrorText {
  readonly kind: ErrorKind;
  readonly exit: number;
  readonly message: string;
  readonly hint: string;
}

export function describeError<Code extends ErrorCode>(code: Code, facts: ErrorFacts[Code]): ErrorText {
  const spec: ErrorSpec<ErrorFacts[Code]> = REGISTRY[code];
  return { kind: spec.kind, exit: EXIT_BY_KIND[spec.kind], message: spec.message(facts), hint: spec.hint(facts) };
}
