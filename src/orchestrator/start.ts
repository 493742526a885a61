import { copyTogether, timeId } from '../lib/index.ts';
import { branchNames } from '../protocol/index.ts';
import type { WorkerHandle } from '../launchers/index.ts';
import type { RunSettings, RunState } from '../state/index.ts';
import { workerStarted } from './action-events.ts';
import { assignAgain } from './apply-workers.ts';
import { findUnmerged } from './apply-merge.ts';
import { orchestratorErrors } from './errors.ts';
import { firstState } from './first-state.ts';
import { createWorkerRegister } from './worker-register.ts';
import type { WorkerRegister } from './worker-register.ts';
import { openJournal } from './journal.ts';
import type { Journal } from './journal.ts';
import { createBell, recordFailure, runLoop } from './loop.ts';
import type { RunEnd } from './loop.ts';
import { hasWork, isGateRun, isLive } from './plan.ts';
import type { RunContext } from './ports.ts';
import { repairAfterCrash, takeBackUnrecorded } from './repair.ts';
import { restorePublished } from './restore-published.ts';
import { trialChain } from './trial.ts';
import { removeSpares } from './worker-folders.ts';
import { withGraph } from './with-graph.ts';

/** A new run of a feature, from a commit to its end. The caller holds the feature's lock. */
export async function startRun(context: RunContext, settings: RunSettings, base: string): Promise<RunEnd> {
  const { ports, graph } = context;
  const { integration } = branchNames(graph.feature);
  const runId = timeId(ports.clock.now());
  const now = new Date(ports.clock.now()).toISOString();
  const state = firstState(graph, { settings, base, integration, runId, now });
  const journal = openJournal(ports, state, context.options.redact);
  const [tasks, levels] = [graph.tasks.length, graph.levels.length];
  journal.record({ type: 'run-started', feature: graph.feature, runId, base, integration, settings, tasks, levels });
  await journal.save();
  try {
    await ports.repository.changeRefs([{ ref: `refs/heads/${integration}`, to: base, from: null }]);
  } catch (error) {
    throw await notBegun(context, journal, error);
  }
  return await withLease(context, journal, async () => undefined);
}

/**
 * The error of a run that could not make its branch. When another has made it meanwhile, in another working tree, that run
 * has the feature: here nothing stays, or neither tree could go on or clean up.
 */
async function notBegun({ ports }: RunContext, journal: Journal, error: unknown): Promise<unknown> {
  const branch = journal.state.integration;
  const there = await ports.repository.readRef(`refs/heads/${branch}`).catch(() => undefined);
  if (there === undefined) {
    await recordFailure(journal, error);
    return error;
  }
  await ports.store.clear();
  return orchestratorErrors.BRANCH_TAKEN({ branch, feature: journal.state.feature }, { cause: error });
}

/** Goes on with a run that was stopped, paused, or whose orchestrator is gone. */
export async function resumeRun(context: RunContext, state: RunState, settings: RunSettings): Promise<RunEnd> {
  const journal = openJournal(context.ports, withGraph(state, context.graph), context.options.redact);
  const pending = Object.values(journal.state.tasks).filter((task) => task.status !== 'complete').length;
  journal.record({ type: 'run-resumed', runId: state.runId, settings, pending });
  const ref = `refs/heads/${state.integration}`;
  await repairAfterCrash(context, journal);
  await context.ports.repository.checkNotCheckedOut(state.integration);
  try {
    await restorePublished(context, journal);
  } catch (error) {
    await recordFailure(journal, error);
    throw error;
  }
  if ((await context.ports.repository.readRef(ref)) === undefined) {
    await context.ports.repository.changeRefs([{ ref, to: journal.state.integrationTip }]);
  }
  await takeBackUnrecorded(context, journal);
  await unmergeMissing(context, journal);
  await dropUnsoundTrials(context, journal);
  return withLease(context, journal, (register) => takeOver(context, journal, register));
}

/** An earlier version may have published a level without the work of a task that was tried again. */
async function unmergeMissing({ ports }: RunContext, journal: Journal): Promise<void> {
  const cause = `its commit is not in ${journal.state.integration}`;
  for (const task of await findUnmerged(ports, journal.state)) journal.record({ type: 'task-unmerged', task, cause });
}

/** A crash, or a prune of the repository, may have removed objects of a trial. */
async function dropUnsoundTrials({ ports }: RunContext, journal: Journal): Promise<void> {
  for (const [key, { trial }] of Object.entries(journal.state.levels)) {
    if (trial === null) continue;
    const cause = await ports.repository.findMergeFault(trialChain(journal.state, Number(key)));
    if (cause !== undefined) journal.record({ type: 'trial-dropped', level: Number(key), cause });
  }
}

async function withLease(
  context: RunContext,
  journal: Journal,
  prepare: (register: WorkerRegister) => Promise<void>,
): Promise<RunEnd> {
  const { ports, options } = context;
  const lease = await ports.mail.keepLease(options.leaseMs);
  const bell = createBell();
  const register = createWorkerRegister(ports, bell.ring);
  try {
    await copyFiles(context);
    await prepare(register);
    await journal.save();
    return await runLoop(context, journal, register, bell);
  } finally {
    lease.close();
  }
}

/** Workers that live, and that the state calls live, are kept with their work; all others are ended. */
async function takeOver(context: RunContext, journal: Journal, register: WorkerRegister): Promise<void> {
  const { launcher } = context.ports;
  const verifiers = dropVerifications(journal);
  const { runId, workers } = journal.state;
  await removeSpares(context.ports, runId);
  const live = await launcher.list(runId);
  const settled = new Set<string>();
  for (const [key, worker] of Object.entries(workers)) {
    if (!isLive(worker)) continue;
    const handle = (worker.handle as WorkerHandle | null) ?? live.find(({ session }) => session === worker.session);
    if (handle === undefined || !(await launcher.recover(handle))) continue;
    settled.add(handle.session);
    const brokenOff = verifiers.has(Number(key)) ? 'verification' : isGateRun(worker.task) ? 'gate run' : undefined;
    if (brokenOff !== undefined) {
      await endWorker(context, journal, handle, `its ${brokenOff} was broken off by the resume`);
      continue;
    }
    register.hold(handle);
    if (worker.handle === null) journal.record(workerStarted(handle));
    journal.record({ type: 'worker-kept', worker: Number(key), doing: worker.task });
    await assignAgain(context, journal.state, Number(key));
  }
  // Also one that was given up when the engine was away.
  for (const handle of live) if (!settled.has(handle.session)) await launcher.stop(handle, { graceMs: 0 });
}

/**
 * Gates and verifications may have been edited since, so what earlier ones answer does not count any more: they begin anew.
 * Returns the workers of the verifications.
 */
function dropVerifications(journal: Journal): ReadonlySet<number> {
  const verifiers = new Set<number>();
  for (const [task, { attempts }] of Object.entries(journal.state.tasks)) {
    const attempt = attempts.at(-1);
    if (attempt === undefined || !hasWork(attempt) || attempt.verifier === null) continue;
    verifiers.add(attempt.verifier);
    const cause = 'the run was resumed, and the task may have been edited';
    journal.record({ type: 'verification-lost', task, attempt: attempt.number, charge: 'nothing', cause });
  }
  return verifiers;
}

async function endWorker({ ports }: RunContext, journal: Journal, handle: WorkerHandle, cause: string): Promise<void> {
  await ports.launcher.stop(handle, { graceMs: 0 });
  journal.record({ type: 'worker-exited', worker: handle.worker, expected: true, cause });
}

/** Workers cannot reach the user's folder: the files that they need from it are copied for them. */
async function copyFiles({ ports, options }: RunContext): Promise<void> {
  await copyTogether(ports.repository.root, options.copies, ports.store.paths.copies);
}
