import path from 'node:path';
import { randomId, writeFileAtomic } from '../lib/index.ts';
import type { WorkerSpec } from '../launchers/index.ts';
import { asksAgent, attemptRef, branchNames } from '../protocol/index.ts';
import type { Assignment, Boot, TaskAssignment, TaskBrief } from '../protocol/index.ts';
import type { AttemptState, RunEvent, RunState } from '../state/index.ts';
import { taskOf } from '../tasks/index.ts';
import type { Task, TaskGraph } from '../tasks/index.ts';
import { isLive } from './decide-workers.ts';
import { gateAttemptId } from './decide-level.ts';
import type { WorkerRegister } from './worker-register.ts';
import type { Merger } from './merger.ts';
import type { Journal } from './journal.ts';
import { attemptId } from './plan.ts';
import type { Action, FinishAction } from './plan.ts';
import type { RunContext } from './ports.ts';
import { publishLevel } from './apply-merge.ts';
import { addCheckout, makeMailboxes } from './worker-folders.ts';
import type { WorkerFolders } from './worker-folders.ts';

/** How much sooner than its worker an agent is killed, so that the worker can still save and report. */
const AGENT_GRACE_SHARE = 0.5;

export interface Executor {
  apply(action: Exclude<Action, FinishAction>): Promise<void>;
}

/** Carries out what was decided. It decides nothing itself. */
export function createExecutor(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  { merger, folders }: { readonly merger: Merger; readonly folders: WorkerFolders },
): Executor {
  /** What the worker said is in the snapshot before it is removed. */
  const discard = async (worker: number): Promise<void> => {
    await journal.save();
    await folders.discard(worker);
  };
  return {
    apply: async (action) => {
      switch (action.kind) {
        case 'record':
          await recordEvent(context, journal, action.event);
          return action.event.type === 'worker-exited' ? discard(action.event.worker) : undefined;
        case 'start-worker':
          return startWorker(context, journal, register, action);
        case 'kill-worker':
          await killWorker(context, journal, register, action);
          return discard(action.worker);
        case 'assign':
          return assign(context, journal, register, action);
        case 'run-gates':
          return runGates(context, journal, action);
        case 'merge-tasks':
          return merger.begin(action);
        case 'publish':
          return publishLevel(context, journal, action);
      }
    },
  };
}

/** A commit gets its ref before anything is said of it: from then on no repack can lose it. */
async function recordEvent({ ports, graph }: RunContext, journal: Journal, event: RunEvent): Promise<void> {
  if ((event.type === 'attempt-accepted' || event.type === 'attempt-failed') && event.commit !== null) {
    const ref = attemptRef(graph.feature, event.task, event.attempt);
    await ports.repository.changeRefs([{ ref, to: event.commit }]);
  }
  journal.record(event);
}

type ActionOf<Kind extends Action['kind']> = Extract<Action, { kind: Kind }>;

/**
 * The mailboxes are made at once, so that work can be assigned. The checkout may take long, and goes on beside the loop;
 * a start that fails is seen at the next look, as the end of any worker is.
 */
async function startWorker(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  { worker, cause }: ActionOf<'start-worker'>,
): Promise<void> {
  const { ports, graph } = context;
  const session = randomId();
  const paths = ports.store.paths.worker(worker);
  const branch = branchNames(graph.feature).worker(worker);
  const { worktree } = paths;
  journal.record({ type: 'worker-starting', worker, session, mode: ports.launcher.name, branch, worktree, cause });
  await journal.save();
  const base = journal.state.integrationTip;
  await makeMailboxes(paths, bootOf(context, journal, { worker, session, branch, ...checkoutOf(context, base) }));
  void register
    .expect(session, async () => {
      const privateGit = await addCheckout(ports, paths, { branch, base });
      return ports.launcher.start(workerSpec(context, journal, { worker, session, privateGit }));
    })
    .then((handle) => {
      if (typeof handle === 'string') return;
      const { pid, containerId } = handle;
      journal.record({ type: 'worker-started', worker, session, pid, containerId, handle: { ...handle } });
    });
}

/** A worker that shares our objects gets a worktree of our repository; all others make their checkout themselves. */
function checkoutOf({ ports }: RunContext, base: string): Pick<Boot, 'checkedOut' | 'bundles'> {
  const shared = ports.launcher.capabilities.sharesObjects;
  return { checkedOut: shared ? base : null, bundles: !shared };
}

function workerSpec(
  { ports, options, graph }: RunContext,
  { state }: Journal,
  life: Pick<WorkerSpec, 'worker' | 'session' | 'privateGit'>,
): WorkerSpec {
  if (options.stop.aborted) throw new Error('the run is being stopped');
  const { worktree, inbox, outbox, log } = ports.store.paths.worker(life.worker);
  return {
    runId: state.runId,
    feature: graph.feature,
    ...life,
    worktree,
    inbox,
    outbox,
    shared: ports.store.paths.shared,
    log,
    env: options.env,
  };
}

function bootOf(
  { options, graph }: RunContext,
  journal: Journal,
  life: Pick<Boot, 'worker' | 'session' | 'branch' | 'checkedOut' | 'bundles'>,
): Boot {
  return {
    version: 1,
    runId: journal.state.runId,
    feature: graph.feature,
    ...life,
    leaseMs: options.leaseMs,
    setup: options.setup,
    stopGraceMs: Math.round(options.graceMs * AGENT_GRACE_SHARE),
  };
}

/**
 * Kills the worker without a grace, and waits until it is gone, with a start that is still under way: only then its
 * folders are free for the next one of its number. When the run is to end there is no next one, and it does not wait.
 */
async function killWorker(
  { options }: RunContext,
  journal: Journal,
  register: WorkerRegister,
  { worker, cause }: ActionOf<'kill-worker'>,
): Promise<void> {
  await register.end(journal.state.workers[worker]?.session ?? '', options.stop);
  journal.record({ type: 'worker-exited', worker, expected: false, cause });
}

async function assign(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  action: ActionOf<'assign'>,
): Promise<void> {
  const { task, worker, number, base, cause } = action;
  const target = journal.state.workers[worker];
  if (target === undefined || !isLive(target)) return;
  journal.record({ type: 'attempt-started', task, attempt: number, worker, base, cause });
  await journal.save();
  const assignment = taskAssignment(context, journal, task);
  if (asksAgent(assignment)) register.giveCredentials(target.session, assignment.attempt);
  await deliver(context, worker, assignment);
}

/** Built from the state alone, so that a restarted orchestrator can deliver it again. */
export function taskAssignment({ options, graph }: RunContext, journal: Journal, id: string): TaskAssignment {
  const task = taskOf(graph, id);
  const known = journal.state.tasks[id];
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
    fresh: known.failures > 0 || foundDirty(graph, journal.state, attempt),
  };
}

/** What a failed attempt left behind must not reach the next one in its worktree, ignored files included. */
function foundDirty(graph: TaskGraph, { tasks }: RunState, attempt: AttemptState): boolean {
  let before: AttemptState | undefined;
  for (const { id } of graph.tasks) {
    for (const other of tasks[id]?.attempts ?? []) {
      if (other.worker !== attempt.worker || other === attempt) continue;
      if (before === undefined || other.begun >= before.begun) before = other;
    }
  }
  return before !== undefined && before.outcome !== 'accepted';
}

function briefOf(task: Task): TaskBrief {
  return {
    id: task.id,
    title: task.title,
    description: task.description,
    create: [...task.files.create],
    modify: [...task.files.modify],
    read: [...task.files.read],
    acceptanceCriteria: [...task.acceptanceCriteria],
    context: task.context,
    verification: task.verification,
    run: task.run,
  };
}

async function runGates(context: RunContext, journal: Journal, action: ActionOf<'run-gates'>): Promise<void> {
  const { level, worker, commit, count, cause } = action;
  const target = journal.state.workers[worker];
  if (target === undefined || !isLive(target)) return;
  const attempt = gateAttemptId(level, (journal.state.levels[level]?.gateRuns ?? 0) + 1);
  journal.record({ type: 'gates-started', level, attempt, worker, commit, count, cause });
  await journal.save();
  await deliver(context, worker, gateAssignment(journal, level));
}

function gateAssignment(journal: Journal, level: number): Assignment {
  const gateRun = journal.state.levels[level]?.gateRun;
  if (gateRun == null) throw new Error(`no gates of level ${level} to assign`);
  return {
    version: 1,
    kind: 'gate',
    attempt: gateRun.attempt,
    base: gateRun.commit,
    gates: journal.state.settings.gates,
  };
}

export async function deliver({ ports }: RunContext, worker: number, assignment: Assignment): Promise<void> {
  const file = path.join(ports.store.paths.worker(worker).inbox, 'assignment.json');
  await writeFileAtomic(file, JSON.stringify(assignment), { durable: false });
}
