import { makeFolder, randomId } from '../lib/index.ts';
import type { WorkerHandle, WorkerSpec } from '../launchers/index.ts';
import { asksAgent, branchNames, INSIDE } from '../protocol/index.ts';
import type { Boot, TaskAssignment, TaskBrief, VerifyAssignment } from '../protocol/index.ts';
import type { Snapshot } from '../snapshots/index.ts';
import type { RunState } from '../state/index.ts';
import { taskOf } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';
import { eventOf, workerStarted } from './action-events.ts';
import { whyFresh } from './decide-assignment.ts';
import { tipOf } from './decide-merge.ts';
import type { LiveRun } from './live-run.ts';
import { attemptId, openAttempt, verificationId } from './plan.ts';
import type { ActionOf } from './plan.ts';
import type { RunContext } from './ports.ts';
import { dropIfBroken } from './repair.ts';

/** How much sooner than its worker an agent is killed, so that the worker can still save and report. */
const AGENT_GRACE_SHARE = 0.5;

type Started = Pick<Boot, 'worker' | 'session' | 'branch'>;

/**
 * The mail is opened at once, so that work can be assigned. The checkout may take long, and goes on beside the loop;
 * a start that fails is seen at the next look, as the end of any worker is.
 */
export async function startWorker(run: LiveRun, action: ActionOf<'start-worker'>): Promise<void> {
  const { journal, register } = run;
  const { ports, graph } = run.context;
  const { worker, base } = action;
  const started: Started = { worker, session: randomId(), branch: branchNames(graph.feature).worker(worker) };
  const { session, branch } = started;
  const { worktree } = ports.store.paths.worker(worker);
  journal.record(eventOf['start-worker'](action, { session, mode: ports.launcher.name, branch, worktree }));
  await journal.save();
  await ports.mail.open(worker);
  void register
    .expect(session, () => start(run, started, base))
    .then((handle) => {
      if (typeof handle !== 'string') journal.record(workerStarted(handle));
    });
}

async function start(run: LiveRun, started: Started, base: string): Promise<WorkerHandle> {
  const { context, journal } = run;
  const { launcher, mail, snapshots } = context.ports;
  const { stop } = context.options;
  const snapshot = await snapshots.of(base, {
    runId: journal.state.runId,
    isPublished: base === journal.state.integrationTip,
    stop,
    news: (event) => journal.record(event),
  });
  await mail.brief(started.worker, bootOf(run, started, base, snapshot));
  const privateGit = await addCheckout(run, started, base, snapshot);
  return launcher.start(workerSpec(run, started, privateGit, snapshot));
}

/** A worker that shares our objects gets a worktree of our repository; every other worker makes its checkout itself. */
function bootOf({ context, journal }: LiveRun, started: Started, base: string, snapshot: Snapshot | null): Boot {
  const { ports, options, graph } = context;
  const { sharesObjects, singleUse } = ports.launcher.capabilities;
  return {
    version: 1,
    runId: journal.state.runId,
    feature: graph.feature,
    ...started,
    checkedOut: sharesObjects ? base : (snapshot?.commit ?? null),
    setUp: snapshot?.isSetUp ?? false,
    bundles: !sharesObjects,
    singleUse,
    leaseMs: options.leaseMs,
    setup: options.setup,
    stopGraceMs: Math.round(options.graceMs * AGENT_GRACE_SHARE),
  };
}

async function addCheckout(
  { context }: LiveRun,
  { worker, branch }: Started,
  base: string,
  snapshot: Snapshot | null,
): Promise<WorkerSpec['privateGit']> {
  const { launcher, repository, store } = context.ports;
  const { worktree: folder, gitDir, overlayWork } = store.paths.worker(worker);
  if (launcher.capabilities.sharesObjects) {
    await repository.addWorktree({ folder, branch, base });
    return null;
  }
  const objects = await repository.objectFolders();
  const inside = {
    worktree: INSIDE.worktree,
    gitDir: INSIDE.gitDir,
    objects: objects.map((_, index) => `${INSIDE.objects}/${index}`),
  };
  await repository.addPrivateCheckout({ folder, gitDir, branch, base, index: snapshot?.index ?? null, inside });
  if (snapshot !== null) await makeFolder(overlayWork);
  return { gitDir, objects };
}

function workerSpec(
  { context, journal }: LiveRun,
  { worker, session }: Started,
  privateGit: WorkerSpec['privateGit'],
  snapshot: Snapshot | null,
): WorkerSpec {
  const { ports, options, graph } = context;
  if (options.stop.aborted) throw new Error('the run is being stopped');
  const { worktree, inbox, outbox, log, overlayWork } = ports.store.paths.worker(worker);
  return {
    runId: journal.state.runId,
    feature: graph.feature,
    worker,
    session,
    privateGit,
    worktree,
    layers: snapshot === null ? null : { snapshot: snapshot.id, lower: snapshot.lower, work: overlayWork },
    inbox,
    outbox,
    shared: ports.store.paths.shared,
    log,
    env: options.env,
  };
}

/**
 * Kills the worker without a grace, and waits until it is gone, also for a start that is still under way: only then its
 * folders are free for the next worker of its number. When the run is to end there is no next one: then it does not wait.
 */
export async function killWorker(
  { context, journal, register }: LiveRun,
  action: ActionOf<'kill-worker'>,
): Promise<void> {
  await register.end(journal.state.workers[action.worker]?.session ?? '', context.options.stop);
  journal.record(eventOf['kill-worker'](action));
}

export async function assign({ context, journal, register }: LiveRun, action: ActionOf<'assign'>): Promise<void> {
  const { task, worker, fresh } = action;
  journal.record(eventOf.assign(action));
  await journal.save();
  const assignment = taskAssignment(context, journal.state, task, fresh !== null);
  if (asksAgent(assignment)) register.giveCredentials(journal.state.workers[worker]?.session ?? '', assignment.attempt);
  await context.ports.mail.deliver(worker, assignment);
}

export async function verify({ context, journal }: LiveRun, action: ActionOf<'verify'>): Promise<void> {
  journal.record(eventOf.verify(action));
  await journal.save();
  await context.ports.mail.deliver(action.worker, verifyAssignment(context, action));
}

function verifyAssignment(
  { graph }: RunContext,
  { task, number, commit }: Pick<ActionOf<'verify'>, 'task' | 'number' | 'commit'>,
): VerifyAssignment {
  const { command = 'true', timeoutMs = 0 } = taskOf(graph, task)?.verification ?? {};
  return { version: 1, kind: 'verify', attempt: verificationId(task, number), base: commit, task, command, timeoutMs };
}

/** A worker that is taken over may not have received its assignment; a second delivery does no harm. */
export async function assignAgain(context: RunContext, state: RunState, worker: number): Promise<void> {
  const { options, graph } = context;
  const task = state.workers[worker]?.task ?? null;
  const open = openAttempt(state, worker);
  if (task === null || open === undefined) return;
  const number = state.tasks[task]?.attempts.at(-1)?.number ?? 0;
  const fresh = whyFresh({ state, graph, policy: options.policy }, { task, worker, number }) !== null;
  await context.ports.mail.deliver(worker, taskAssignment(context, state, task, fresh));
}

function taskAssignment({ options, graph }: RunContext, state: RunState, id: string, fresh: boolean): TaskAssignment {
  const task = taskOf(graph, id);
  const known = state.tasks[id];
  const attempt = known?.attempts.at(-1);
  if (task === undefined || known === undefined || attempt === undefined)
    throw new Error(`no attempt of ${id} to assign`);
  return {
    version: 1,
    kind: 'task',
    attempt: attemptId(id, attempt.number),
    base: attempt.base,
    task: briefOf(task),
    feedback: known.feedback,
    agent: options.agent,
    limits: options.limits,
    verify: !options.policy.verifyAfresh,
    fresh,
  };
}

function briefOf({ files: { create, modify, read }, ...task }: Task): TaskBrief {
  const { id, title, description, acceptanceCriteria, context, verification, run } = task;
  return {
    id,
    title,
    description,
    create: [...create],
    modify: [...modify],
    read: [...read],
    acceptanceCriteria: [...acceptanceCriteria],
    context,
    verification,
    run,
  };
}

export async function runGates({ context, journal }: LiveRun, action: ActionOf<'run-gates'>): Promise<void> {
  const { level } = action;
  if (await dropIfBroken(context, journal, { level, tip: tipOf(journal.state, level), tasks: [] })) return;
  const started = eventOf['run-gates'](action, journal.state);
  journal.record(started);
  await journal.save();
  await context.ports.mail.deliver(action.worker, {
    version: 1,
    kind: 'gate',
    attempt: started.attempt,
    base: action.commit,
    gates: journal.state.settings.gates,
  });
}
