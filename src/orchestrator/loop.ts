import { engineErrors } from '../engines/errors.ts';
import { gitErrors } from '../git/errors.ts';
import {
  asAppError,
  endOfRun,
  hasCode,
  reasonOf,
  repeated,
  reserveDescriptors,
  sleep,
  systemClock,
  within,
} from '../lib/index.ts';
import { stateErrors } from '../state/errors.ts';
import type { RunState } from '../state/index.ts';
import { eventOf } from './action-events.ts';
import { apply } from './apply.ts';
import { proveComplete } from './apply-merge.ts';
import { decide } from './decide.ts';
import { decideEnd } from './decide-end.ts';
import { orchestratorErrors } from './errors.ts';
import { takeResults } from './decide-examination.ts';
import { goesOnAtStop, stopForOutage } from './decide-stop.ts';
import type { WorkerRegister } from './worker-register.ts';
import { createExaminer } from './examine.ts';
import type { Journal } from './journal.ts';
import type { LiveRun } from './live-run.ts';
import { createObserver } from './observe.ts';
import { createMerger } from './merger.ts';
import { finishWith } from './plan.ts';
import type { FinishAction, Snapshot } from './plan.ts';
import type { RunContext } from './ports.ts';
import { removeBrokenRefs } from './repair.ts';
import { provePublished } from './restore-published.ts';
import { createSpares } from './spares.ts';
import { createWorkerFolders, removeCheckouts } from './worker-folders.ts';

/** The longest time between two looks: a watch may miss a change. */
const TICK_MS = 1000;
/** More looks in a second, which only a task brings about that writes its worker's status without end, come with pauses. */
const MOST_LOOKS = 100;
const PAUSE_MS = 20;
/** How long the end of a run waits for the end of a snapshot in the making. */
const SNAPSHOT_END_MS = 60_000;

export interface RunEnd {
  readonly state: RunState;
  readonly exit: number;
}

type Bell = ReturnType<typeof createBell>;

/** Wakes the loop: soon when something has happened, and after a while in any case. */
export function createBell(now = systemClock.monotonic) {
  let rung = new AbortController();
  const isTooOften = createRateCheck(now);
  return {
    ring: (): void => rung.abort(),
    wait: async (signal: AbortSignal, atMost: number): Promise<void> => {
      await sleep(atMost, AbortSignal.any([rung.signal, signal]));
      if (rung.signal.aborted && isTooOften()) await sleep(PAUSE_MS, signal);
      rung = new AbortController();
    },
  };
}

/** Whether this call is one of more than MOST_LOOKS within a second. */
function createRateCheck(now: () => number): () => boolean {
  const last: number[] = [];
  return () => {
    const at = now();
    last.push(at);
    const before = last.length > MOST_LOOKS ? last.shift() : undefined;
    return before !== undefined && at - before < 1000;
  };
}

/** Observes, decides and applies until the run is over. At the end nothing that it started is left. */
export async function runLoop(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  bell: Bell,
): Promise<RunEnd> {
  const { ports } = context;
  const examiner = createExaminer(context, bell.ring);
  const folders = createWorkerFolders(ports);
  const spares = createSpares({ context, journal, folders }, bell.ring);
  const run: LiveRun = {
    context,
    journal,
    register,
    observer: createObserver({ context, register, examiner, spares }),
    merger: createMerger(context, journal, bell.ring),
    examiner,
    folders,
    spares,
  };
  const watch = ports.watch(ports.store.paths.requests, bell.ring);
  const reserve = reserveDescriptors();
  try {
    return await finish(run, await takeTurns(run, bell));
  } catch (error) {
    reserve.release();
    return await endAfterError(run, error);
  } finally {
    reserve.release();
    await examiner.rest();
    watch.close();
  }
}

/** Resolves with how the run is to end. */
async function takeTurns(run: LiveRun, bell: Bell): Promise<FinishAction> {
  const { context, journal, observer } = run;
  const { stop } = context.options;
  for (;;) {
    const snapshot = await look(run);
    const actions = decide(snapshot);
    for (const action of actions) {
      if (action.kind === 'finish') return action;
      if (stop.aborted && !goesOnAtStop(action)) break;
      await apply(run, action);
    }
    if (actions.length > 0) continue;
    // Events with an effect outside were saved before that effect; all others are saved before the wait.
    await journal.save();
    await observer.forgetAnswered();
    await bell.wait(stop, Math.min(nextLook(snapshot), journal.dueMs ?? TICK_MS));
  }
}

async function look({ observer, journal, merger }: LiveRun): Promise<Snapshot> {
  const snapshot = await observer.look(journal.state);
  for (const [worker, { heartbeatAt }] of snapshot.workers)
    if (heartbeatAt !== null) journal.heartbeat(worker, heartbeatAt);
  return { ...snapshot, state: journal.state, merging: merger.busy };
}

function nextLook({ waits }: Snapshot): number {
  return Math.max(1, Math.min(TICK_MS, ...waits.values()));
}

/** Workers are asked to stop, what they finished meanwhile still counts, and only then the end is recorded. */
async function finish(run: LiveRun, action: FinishAction): Promise<RunEnd> {
  const { context, journal, examiner, observer } = run;
  if (action.status === 'complete') await proveComplete(context, journal.state);
  // Tasks cannot be done where objects are gone: that is no fault of theirs.
  if (action.status === 'failed') await provePublished(context.ports, journal.state);
  await endAll(run);
  for (const take of takeResults(await look(run))) await apply(run, take);
  await examiner.rest();
  const snapshot = await look(run);
  for (const { event } of decideEnd(snapshot, action)) journal.record(event);
  if (await sweep(run)) await clearFolders(run);
  journal.record(eventOf.finish(action, journal.state));
  await journal.checkpoint();
  await observer.forgetAnswered();
  return { state: journal.state, exit: action.exit };
}

/** Workers, those that wait to be one, what they would have started from, and merges. */
async function endAll({ context, register, spares, merger }: LiveRun): Promise<void> {
  const { graceMs } = context.options;
  const snapshots = context.ports.snapshots.end();
  try {
    await Promise.all([register.stopAll(graceMs), spares.close()]);
    // What an engine that hangs keeps is found by the sweep.
    await within(SNAPSHOT_END_MS, snapshots);
  } finally {
    await merger.rest();
  }
}

/** False when the engine cannot be asked; a resume or a clean-up looks again. */
async function sweep({ context, journal }: LiveRun): Promise<boolean> {
  try {
    await context.ports.launcher.sweep(journal.state.runId);
    return true;
  } catch (error) {
    journal.record({ type: 'warning', text: `what is left of the workers could not be seen: ${reasonOf(error)}` });
    return false;
  }
}

/** What workers reported is on the disk before their folders go. */
async function clearFolders({ context, journal, folders }: LiveRun): Promise<void> {
  await journal.save();
  try {
    await folders.clear();
    await removeBrokenRefs(context, journal.state);
  } catch (error) {
    const what = `what workers have written could not be removed from ${context.ports.store.paths.workers}`;
    journal.record({ type: 'warning', text: `${what}; --resume tries that again: ${reasonOf(error)}` });
  }
}

/** When the engine is gone in the middle of a turn, the run stops in order. */
async function endAfterError(run: LiveRun, error: unknown): Promise<RunEnd> {
  if (!hasCode(error, engineErrors.ENGINE_UNREACHABLE) || run.journal.state.status !== 'running')
    return failRun(run, error);
  try {
    return await finish(run, { kind: 'finish', ...stopForOutage(reasonOf(error)), resumeAt: null });
  } catch (next) {
    return await failRun(run, next);
  }
}

/** An error that no decision foresees (a full disk, a moved branch): ends the run in order, then throws it. */
async function failRun(run: LiveRun, met: unknown): Promise<never> {
  await endAll(run).catch(() => undefined);
  const { context, journal } = run;
  const error = await causeOf(context, journal.state, met);
  // Another orchestrator has the run by now: all that is left belongs to it.
  if (hasCode(error, stateErrors.LOCK_LOST)) throw error;
  const { launcher } = context.ports;
  await launcher.sweep(journal.state.runId).then(
    // Results that were not taken stay for the next resume.
    async () => {
      await removeCheckouts(context.ports).catch(() => undefined);
      await removeBrokenRefs(context, journal.state).catch(() => undefined);
    },
    () => undefined,
  );
  if (journal.state.status === 'running') await recordFailure(journal, error);
  throw endOfRun(error);
}

/** Git names the command that met a missing object; what is gone, and what to do, says another error. */
async function causeOf({ ports }: RunContext, state: RunState, error: unknown): Promise<unknown> {
  if (!hasCode(error, gitErrors.GIT_FAILED) && !hasCode(error, orchestratorErrors.MERGE_UNSOUND)) return error;
  try {
    await provePublished(ports, state);
    return error;
  } catch (other) {
    return hasCode(other, orchestratorErrors.OBJECTS_GONE) ? other : error;
  }
}

/** The state says that the run is stopped, and why, where that can still be written. */
export async function recordFailure(journal: Journal, error: unknown): Promise<void> {
  journal.record(eventOf.finish(finishWith('stopped', asAppError(error).exit, reasonOf(error)), journal.state));
  await repeated(journal.checkpoint, () => true).catch(() => undefined);
}
