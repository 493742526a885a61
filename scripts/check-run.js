// Says what is wrong with a run that has ended, from what it left: state, refs, objects, files and processes. It shares
// no code with the program, so that one mistake cannot stand in both. Usage: check-run.js <repository> <feature>
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const [repository, feature] = process.argv.slice(2);
if (repository === undefined || feature === undefined) {
  console.error('Usage: node scripts/check-run.js <repository> <feature>');
  process.exit(2);
}
const problems = [];
const git = (...args) =>
  execFileSync('git', args, {
    cwd: repository,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1024 ** 3,
  }).trim();
/** Notes what goes wrong in a check, and goes on with the next. */
const check = (what, work) => {
  try {
    work();
  } catch (error) {
    problems.push(
      `${what}: ${
        String(error.stderr ?? error.message)
          .trim()
          .split('\n')[0]
      }`,
    );
  }
};
const demand = (holds, what) => {
  if (!holds) problems.push(what);
};

const top = path.join(repository, '.mahabharatha');
const state = JSON.parse(readFileSync(path.join(top, 'state', `${feature}.json`), 'utf8'));
const tasks = Object.entries(state.tasks);
const merged = tasks.filter(([, task]) => task.status === 'complete' && task.merged);
const baseOf = (task) => task.attempts.findLast(({ outcome }) => outcome === 'accepted')?.base;
const changesOf = ([, task]) => filesBetween(baseOf(task), task.commit);

checkClaims();
checkBranch();
checkContent();
checkRepository();
checkLeftovers();
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

function checkClaims() {
  demand(state.status !== 'running', 'the run has ended, and its state says that it runs');
  if (state.status !== 'complete') return;
  for (const [id, task] of tasks) demand(task.merged, `the run is called complete, and ${id} is ${task.status}`);
}

/** Every task that is called merged is on the branch exactly once. */
function checkBranch() {
  const { integration, integrationTip, base } = state;
  check('the integration branch', () => {
    const branch = git('for-each-ref', '--format=%(objectname)', `refs/heads/${integration}`);
    // A run that was stopped at its very start has no branch yet.
    if (branch === '' && integrationTip === base && state.status !== 'complete') return;
    demand(branch === integrationTip, `${integration} is not where the state has it`);
    git('merge-base', '--is-ancestor', base, integrationTip);
    const merges = git('log', '--first-parent', '--format=%P', `${base}..${integrationTip}`).split('\n');
    const seconds = merges.map((parents) => parents.split(' ')[1]);
    for (const [id, task] of merged) {
      if (task.commit === baseOf(task)) continue;
      const times = seconds.filter((commit) => commit === task.commit).length;
      demand(times === 1, `the work of ${id} is ${times} times on the branch`);
    }
    const foreign = seconds.filter((commit) => commit && !merged.some(([, task]) => task.commit === commit));
    demand(foreign.length === 0, `work of no task that is called merged is on the branch: ${foreign.join(', ')}`);
  });
}

/** What no task changed is as it was; what one task alone changed is as that task left it. */
function checkContent() {
  check('the content of the branch', () => {
    const changed = filesBetween(state.base, state.integrationTip);
    const works = merged.map((entry) => [entry, changesOf(entry)]);
    for (const [file, now] of changed) {
      const by = works.filter(([, files]) => files.has(file));
      demand(by.length > 0, `${file} differs from the base, and no task changed it`);
      if (by.length === 1) demand(by[0][1].get(file) === now, `${file} is not as ${by[0][0][0]} left it`);
    }
    for (const [[id], files] of works)
      for (const file of files.keys()) {
        const alone = works.filter(([, others]) => others.has(file)).length === 1;
        if (alone) demand(changed.has(file), `the change of ${file} by ${id} is not on the branch`);
      }
  });
}

function checkRepository() {
  check('git fsck', () => git('fsck', '--connectivity-only', '--no-dangling', '--no-progress'));
  check('git worktree list', () => {
    const ours = git('worktree', 'list', '--porcelain')
      .split('\n')
      .filter((line) => line.startsWith('branch '));
    demand(!ours.some((line) => line.includes('/mahabharatha/')), `a worktree is left: ${ours.join(', ')}`);
  });
  const folder = path.resolve(repository, git('rev-parse', '--git-common-dir'));
  const records = filesBelow(path.join(folder, 'worktrees')).filter((file) => /^mahabharatha-worker-\d+$/.test(file));
  demand(records.length === 0, `records of worktrees are left: ${records.join(', ')}`);
  const locks = filesBelow(folder).filter((file) => /(\.lock(\..*)?|tmp_objdir-.*)$/.test(file));
  demand(locks.length === 0, `left in the git directory: ${locks.join(', ')}`);
}

function checkLeftovers() {
  const files = filesBelow(top);
  const drafts = files.filter((file) => /\.tmp$|lock\.json/.test(path.basename(file)));
  demand(drafts.length === 0, `left in .mahabharatha: ${drafts.join(', ')}`);
  check('the event log', () => {
    const text = readFileSync(path.join(top, 'state', feature, 'events.jsonl'), 'utf8');
    const events = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    // A run that was killed before its first snapshot is begun anew.
    const gap = events.findIndex(({ seq }, index) => index > 0 && seq !== 1 && seq !== events[index - 1].seq + 1);
    demand(gap < 0, `the event log goes from ${events[gap - 1]?.seq} to ${events[gap]?.seq}`);
    demand(events.at(-1)?.seq === state.events, `the state has ${state.events} events, the log ${events.at(-1)?.seq}`);
  });
  // After an error, results that were not taken stay for the resume.
  const workers = state.status === 'stopped' ? undefined : workersFolder();
  demand(workers === undefined, `what workers wrote is left: ${workers}`);
  demand(
    git('status', '--porcelain', '--untracked-files=all', '--', '.mahabharatha/state', '.mahabharatha/logs') === '',
    'the run shows in git status',
  );
  for (const pid of processesOf(state.runId)) problems.push(`process ${pid} of the run lives`);
}

/** Where workers of this run write; undefined when it is gone. */
function workersFolder() {
  const home = process.env.XDG_STATE_HOME ?? path.join(homedir(), '.local', 'state');
  const runs = path.join(home, 'mahabharatha', 'runs');
  const records = filesBelow(runs).filter((file) => path.dirname(path.dirname(file)) === '.' && file.endsWith('.json'));
  const ours = records.find((file) => {
    const record = JSON.parse(readFileSync(path.join(runs, file), 'utf8'));
    return record.feature === feature && record.root === realpathSync(repository);
  });
  return ours && path.join(runs, ours);
}

/** Mode and object of each file that differs, by path; '-' where it is gone. */
function filesBetween(from, to) {
  const fields = git('diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to).split('\0');
  const files = new Map();
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [, mode, , id, letter] = fields[at].split(' ');
    files.set(fields[at + 1], letter === 'D' ? '-' : `${mode} ${id}`);
  }
  return files;
}

function filesBelow(folder) {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
}

function processesOf(runId) {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(path.join('/proc', name, 'environ'), 'utf8').includes(`MAHABHARATHA_RUN=${runId}\0`);
    } catch {
      return false;
    }
  });
}
