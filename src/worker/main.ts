import path from 'node:path';
import { config, locales } from 'zod/mini';
import { isMachineTrouble, openWorkspace, withGitSettings } from '../git/index.ts';
import { watchLease } from '../lease/index.ts';
import { reasonOf, systemClock, within } from '../lib/index.ts';
import { BUNDLE, COPIES, MARKS, TEXT_LIMIT } from '../protocol/index.ts';
import type {
  Assignment,
  Boot,
  GateResult,
  Prepared,
  TaskResult,
  VerifyResult,
  WorkerStatus,
} from '../protocol/index.ts';
import { runAttempt } from './attempt.ts';
import { LEASE_LOST } from './context.ts';
import type { WorkerContext } from './context.ts';
import { runGates } from './gates.ts';
import { openInbox, readBoot } from './inbox.ts';
import { createLog } from './log.ts';
import { startReporter } from './reporter.ts';
import { findSurroundings } from './surroundings.ts';
import { runVerification } from './verification.ts';
import { checkOutEarly, createWorktreeSetup, SetupFailed } from './worktree-setup.ts';
import type { EarlyCheckout, WorktreeSetup } from './worktree-setup.ts';

const LAST_OUTPUT_MS = 2000;

interface Folders {
  readonly worktree: string;
  readonly inbox: string;
  readonly outbox: string;
  readonly shared: string;
}

/** A worker: takes assignments one after the other until it is asked to end, or its orchestrator is gone. */
async function main(folders: Folders): Promise<void> {
  // For this signal Node would open its debugger, by which a task could run code in this process. No task runs yet.
  process.on('SIGUSR1', () => undefined);
  const boot = await readBoot(folders.inbox);
  const early = await prepareEarly(folders.worktree, boot);
  const around = await findSurroundings(boot, process.env);
  const env = { ...around.env, [MARKS.child]: 'git' };
  const log = createLog(boot.worker, (text) => process.stdout.write(around.redact(text)));
  const stop = new AbortController();
  const end = (cause: string, reason: string = cause): void => {
    if (stop.signal.aborted) return;
    log.line('worker', `ends: ${cause}`);
    stop.abort(reason);
  };
  const lease = watchLease({
    file: path.join(folders.shared, 'lease.json'),
    leaseMs: boot.leaseMs,
    clock: systemClock,
    lost: (cause) => end(cause, LEASE_LOST),
  });
  listenToParent(lease.hangUp, end);
  const statusFile = path.join(folders.outbox, 'status.json');
  const reporter = startReporter(statusFile, firstStatus(boot), beatOf(boot), around.redact);
  try {
    const context: WorkerContext = {
      ...around,
      boot,
      ...placesIn(folders),
      workspace: await openWorkspace(folders.worktree, env, { known: early?.place }),
      reporter,
      log,
      bundle: boot.bundles ? path.join(folders.outbox, BUNDLE) : null,
      stop: stop.signal,
    };
    await work(context, folders.inbox, early);
  } finally {
    await reporter.update({ phase: 'stopped' });
    reporter.close();
    lease.close();
  }
}

function placesIn({ inbox, outbox, shared }: Folders): Pick<WorkerContext, 'copies' | 'promptFile' | 'setupCopies'> {
  return {
    copies: [inbox, shared].map((folder) => path.join(folder, COPIES)),
    promptFile: path.join(outbox, 'prompt.md'),
    setupCopies: path.join(outbox, 'set-up'),
  };
}

/**
 * What a spare does while it waits, with settings of our own: those of its run come with the handover. Without a git on
 * the usual path nothing is done. When it fails, the spare ends, and another worker starts in its place.
 */
async function prepareEarly(worktree: string, boot: Boot): Promise<EarlyCheckout | null> {
  if (boot.likelyBase === null) return null;
  const env = withGitSettings({ ...process.env, [MARKS.child]: 'git' }, [['safe.directory', '*']]);
  const workspace = await openWorkspace(worktree, env, { base: boot.likelyBase }).catch(() => null);
  return workspace === null ? null : checkOutEarly({ boot, workspace }, boot.likelyBase);
}

async function work(context: WorkerContext, inboxFolder: string, early: EarlyCheckout | null): Promise<void> {
  const inbox = openInbox(inboxFolder);
  const setup = createWorktreeSetup(context, early);
  let done: string | null = null;
  await context.reporter.update({ phase: 'idle' });
  try {
    for (;;) {
      const assignment = await inbox.next(done, context.stop);
      if (assignment === undefined) return;
      const { attempt } = assignment;
      await context.reporter.update({ phase: 'preparing', attempt, result: null, usage: null, trouble: null });
      const result = await carryOut(context, setup, assignment);
      if (result === undefined) return;
      done = attempt;
      const phase = context.stop.aborted ? 'stopping' : 'idle';
      const updated = context.reporter.update({ phase, attempt: null, result, trouble: null });
      context.credentials?.forget(attempt);
      await updated;
      if (!context.stop.aborted && !context.boot.singleUse) setup.tidyUp(assignment.base);
    }
  } finally {
    inbox.close();
    // A git command that is killed leaves locks, so it is waited for.
    await setup.settled();
  }
}

type Result = TaskResult | GateResult | VerifyResult | Prepared;

/** An error becomes a result. Only a failed set-up ends the worker, because no task can be done. */
async function carryOut(
  context: WorkerContext,
  setup: WorktreeSetup,
  assignment: Assignment,
): Promise<Result | undefined> {
  try {
    if (assignment.kind === 'task') return await runAttempt(context, setup, assignment);
    if (assignment.kind === 'gate') return await runGates(context, setup, assignment);
    if (assignment.kind === 'verify') return await runVerification(context, setup, assignment);
    await setup.prepare({ base: assignment.base, fresh: false });
    return { kind: 'prepared', attempt: assignment.attempt, error: null };
  } catch (error) {
    const detail = reasonOf(error).slice(-TEXT_LIMIT);
    context.log.line('worker', detail);
    if (error instanceof SetupFailed) {
      await context.reporter.update({ phase: 'stopping', setupFailure: detail });
      return undefined;
    }
    // Not the task's fault: the worker ends, and the attempt is lost with it.
    if (isMachineTrouble(error)) throw error;
    return failed(assignment, detail);
  }
}

function failed(assignment: Assignment, detail: string): Result {
  const { attempt } = assignment;
  if (assignment.kind === 'prepare') return { kind: 'prepared', attempt, error: detail };
  if (assignment.kind === 'verify')
    return { kind: 'verify', attempt, ok: false, detail: '', output: '', error: detail };
  if (assignment.kind === 'gate') return { kind: 'gate', attempt: assignment.attempt, gates: [], error: detail };
  return {
    kind: 'task',
    attempt: assignment.attempt,
    outcome: 'worker-error',
    detail,
    feedback: detail,
    commit: null,
    usage: null,
    resetAt: null,
  };
}

/** A signal asks the worker to end; the end of stdin shows that the orchestrator is gone. */
function listenToParent(hangUp: () => void, end: (cause: string) => void): void {
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => end(`asked to by ${name}`));
  process.stdin.on('end', hangUp);
  process.stdin.on('error', hangUp);
  process.stdin.resume();
  process.stdin.unref?.();
  // A log that cannot be written (a full disk) must not end the work.
  process.stdout.on('error', () => undefined);
}

function firstStatus(boot: Boot): WorkerStatus {
  return {
    version: 1,
    session: boot.session,
    pid: process.pid,
    phase: 'starting',
    attempt: null,
    beat: 0,
    at: new Date().toISOString(),
    usage: null,
    result: null,
    setupFailure: null,
    trouble: null,
  };
}

function beatOf(boot: Boot): number {
  return Math.max(50, Math.min(2000, boot.leaseMs / 5));
}

/** Each is two arguments. They are read here, as to load node:util for it takes a processor 2 ms. */
function folderOf(name: keyof Folders): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? undefined : process.argv[at + 1];
}

const [worktree, inbox, outbox, shared] = (['worktree', 'inbox', 'outbox', 'shared'] as const).map(folderOf);
if (worktree === undefined || inbox === undefined || outbox === undefined || shared === undefined) {
  process.stderr.write(
    'The worker is started by mahabharatha, never by a person: --worktree, --inbox, --outbox and --shared are needed.\n',
  );
  process.exitCode = 2;
} else {
  // The small zod has no words of its own for what does not fit.
  config(locales.en());
  await main({ worktree, inbox, outbox, shared });
  // The last output may still wait for a slow reader.
  await within(LAST_OUTPUT_MS, new Promise((done) => process.stdout.write('', done)));
  // Whatever is still open has no use any more.
  process.exit(0);
}
