import { randomId } from '../lib/index.ts';
import type { Spare, WorkerHandle } from '../launchers/index.ts';
import { agentName, asksAgent, branchNames } from '../protocol/index.ts';
import type { TaskAssignment, TaskBrief, VerifyAssignment } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { taskOf } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';
import { eventOf, workerStarted } from './action-events.ts';
import { whyFresh } from './decide-assignment.ts';
import { tipOf } from './decide-merge.ts';
import type { LiveRun } from './live-run.ts';
import { addCheckout, bootOf, snapshotFor, specOf } from './new-worker.ts';
import type { NewWorker } from './new-worker.ts';
import { attemptId, openAttempt, verificationId } from './plan.ts';
import type { ActionOf } from './plan.ts';
import type { RunContext } from './ports.ts';
import { dropIfBroken } from './repair.ts';

/**
 * The mail is opened at once, so that work can be assigned. The checkout may take long, and goes on beside the loop;
 * a start that fails is seen at the next look, as the end of any worker is.
 */
export async function startWorker(run: LiveRun, action: ActionOf<'start-worker'>): Promise<void> {
  const { journal, register, folders } = run;
  const { ports, graph } = run.context;
  const { worker, base } = action;
  const kept = run.spares.take(worker);
  const session = kept?.session ?? randomId();
  const branch = branchNames(graph.feature).worker(worker);
  const { worktree } = ports.store.paths.worker(worker);
  journal.record(eventOf['start-worker'](action, { session, mode: ports.launcher.name, branch, worktree }));
  await journal.save();
  if (kept === undefined || !(await folders.takeSpare(worker))) await ports.mail.open(worker);
  void register
    .expect(session, () => start(run, { worker, session, branch, base }, kept?.spare))
    .then((handle) => {
      if (typeof handle !== 'string') journal.record(workerStarted(handle));
    });
}

async function start(run: LiveRun, newWorker: NewWorker, spare: Spare | undefined): Promise<WorkerHandle> {
  const { context } = run;
  const { launcher, mail, store } = context.ports;
  const { worker } = newWorker;
  const paths = store.paths.worker(worker);
  try {
    const snapshot = await snapshotFor(run, newWorker.base);
    const taken = await spare?.take(await specOf(run, newWorker, snapshot, paths));
    if (taken !== undefined) return taken;
    await mail.brief(worker, bootOf(run, newWorker, snapshot, null));
    await addCheckout(context, newWorker, snapshot, paths);
    return await launcher.start(await specOf(run, newWorker, snapshot, paths));
  } catch (error) {
    await spare?.remove();
    throw error;
  }
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
  if (asksAgent(assignment)) {
    const session = journal.state.workers[worker]?.session ?? '';
    register.giveCredentials(session, assignment.attempt, agentName(assignment.agent));
  }
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
    agent: options.agentFor(task),
    limits: options.limits,
    prices: options.prices,
    verify: !options.policy.verifyAfresh,
    fresh,
  };
}

function briefOf({ files, ...task }: Task): TaskBrief {
  const { id, title, description, acceptanceCriteria, context, verification, satisfied, run } = task;
  return {
    id,
    title,
    description,
    create: [...files.create],
    modify: [...files.modify],
    delete: [...files.delete],
    read: [...files.read],
    acceptanceCriteria: [...acceptanceCriteria],
    context,
    verification,
    satisfied,
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
