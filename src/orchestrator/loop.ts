import { engineErrors } from '../engines/errors.ts';
import { asAppError, hasCode, inSeconds, reasonOf, repeated, reserveDescriptors, sleep } from '../lib/index.ts';
import { stateErrors } from '../state/errors.ts';
import type { RunState } from '../state/index.ts';
import { createExecutor } from './apply.ts';
import { proveComplete } from './apply-merge.ts';
import { decide } from './decide.ts';
import { settleTasks } from './decide-results.ts';
import { isLive } from './decide-workers.ts';
import type { WorkerRegister } from './worker-register.ts';
import type { Journal } from './journal.ts';
import { createObserver } from './observe.ts';
import { createMerger } from './merger.ts';
import type { Merger } from './merger.ts';
import type { Observer } from './observe.ts';
import type { Action, FinishAction, Snapshot } from './plan.ts';
import type { RunContext } from './ports.ts';
import { createWorkerFolders, removeCheckouts } from './worker-folders.ts';
import type { WorkerFolders } from './worker-folders.ts';

/** Looked at without a sign that anything happened: the net under watches and exits. */
const TICK_MS = 1000;

export interface RunEnd {
  readonly state: RunState;
  readonly exit: number;
}

/** Wakes the loop: at once when there is a sign, and now and then anyway. */
export interface Bell {
  ring(): void;
  wait(signal: AbortSignal, atMost: number): Promise<void>;
}

export function createBell(): Bell {
  let rung = new AbortController();
  return {
    ring: () => rung.abort(),
    wait: async (signal, atMost) => {
      await sleep(atMost, AbortSignal.any([rung.signal, signal]));
      rung = new AbortController();
    },
  };
}

/** Observe, decide, apply, until the run is over. Then nothing that it started is left. */
export async function runLoop(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  bell: Bell,
): Promise<RunEnd> {
  const { ports, options } = context;
  const merger = createMerger(context, journal, bell.ring);
  const folders = createWorkerFolders(ports);
  const executor = createExecutor(context, journal, register, { merger, folders });
  const observer = createObserver(context, register, bell.ring);
  const watch = ports.watch(ports.store.paths.requests, bell.ring);
  const deadline = options.deadlineMs === null ? null : ports.clock.monotonic() + options.deadlineMs;
  const reserve = reserveDescriptors();
  const run: LiveRun = { context, journal, register, merger, executor, observer, folders };
  try {
    for (;;) {
      const snapshot = await look(run);
      const actions = decide(late(snapshot, deadline, context));
      for (const action of actions) {
        if (action.kind === 'finish') {
          if (action.status === 'complete') await proveComplete(context, journal.state);
          return await finish(run, action);
        }
        // Asked to stop meanwhile: facts are still written down and the dead ended, nothing new is begun.
        if (options.stop.aborted && action.kind !== 'record' && action.kind !== 'kill-worker') break;
        await executor.apply(action);
      }
      if (actions.length > 0) continue;
      // Whatever the outside would notice has been saved before it was done; the rest is saved before we sleep.
      await journal.save();
      await observer.forgetAnswered();
      await bell.wait(options.stop, Math.min(nextLook(snapshot), journal.dueMs ?? TICK_MS));
    }
  } catch (error) {
    reserve.release();
    return await goDown(run, error);
  } finally {
    reserve.release();
    await observer.rest();
    watch.close();
  }
}

async function look({ observer, journal, merger }: LiveRun, last = false): Promise<Snapshot> {
  const snapshot = await observer.look(journal.state, { last });
  for (const [worker, at] of observer.heartbeats) journal.heard(worker, at);
  return { ...snapshot, state: journal.state, merging: merger.busy };
}

function late(snapshot: Snapshot, deadline: number | null, { ports, options }: RunContext): Snapshot {
  if (snapshot.stop !== null || deadline === null || ports.clock.monotonic() < deadline) return snapshot;
  const cause = `the run's time limit of ${inSeconds(options.deadlineMs ?? 0)} is over`;
  return { ...snapshot, stop: { status: 'stopped', exit: 1, cause } };
}

function nextLook({ waits }: Snapshot): number {
  return Math.max(1, Math.min(TICK_MS, ...waits.values()));
}

interface LiveRun {
  readonly context: RunContext;
  readonly journal: Journal;
  readonly register: WorkerRegister;
  readonly merger: Merger;
  readonly executor: ReturnType<typeof createExecutor>;
  readonly observer: Observer;
  readonly folders: WorkerFolders;
}

/** Workers are asked to stop, what they finished meanwhile still counts, and only then the end is recorded. */
async function finish(run: LiveRun, action: FinishAction): Promise<RunEnd> {
  const { context, journal, register, merger, executor, observer } = run;
  await register.stopAll(context.options.graceMs);
  await merger.rest();
  const snapshot = await look(run, true);
  const last = settleTasks(snapshot).filter((step) => step.kind === 'record');
  for (const step of last) await executor.apply(asInterruption(step));
  for (const [key, worker] of Object.entries(journal.state.workers)) {
    if (!isLive(worker)) continue;
    journal.record({
      type: 'worker-exited',
      worker: Number(key),
      expected: true,
      cause: `the run is ${action.status}`,
    });
  }
  for (const [level, { gateRun }] of Object.entries(journal.state.levels)) {
    if (gateRun !== null)
      journal.record({ type: 'gates-lost', level: Number(level), attempt: gateRun.attempt, cause: action.cause });
  }
  if (await sweep(context, journal)) await clearFolders(run);
  const { status, exit, cause, resumeAt } = action;
  journal.record({ type: 'run-finished', status, exit, cause, resumeAt });
  await journal.checkpoint();
  await observer.forgetAnswered();
  return { state: journal.state, exit };
}

/** False when the engine cannot be asked; a resume or a clean-up looks again. */
async function sweep({ ports }: RunContext, journal: Journal): Promise<boolean> {
  try {
    await ports.launcher.sweep(journal.state.runId);
    return true;
  } catch (error) {
    journal.record({ type: 'warning', text: `what is left of the workers could not be seen: ${reasonOf(error)}` });
    return false;
  }
}

/** All that workers have said is in the snapshot before their folders go. */
async function clearFolders({ context, journal, folders }: LiveRun): Promise<void> {
  await journal.save();
  try {
    await folders.clear();
  } catch (error) {
    const text = `what workers have written could not be removed from ${context.ports.store.paths.workers}: ${reasonOf(error)}`;
    journal.record({ type: 'warning', text });
  }
}

/** A worker that was stopped by us has not died: its attempt costs the task nothing. */
function asInterruption(step: Extract<Action, { kind: 'record' }>): Extract<Action, { kind: 'record' }> {
  const { event } = step;
  if (event.type !== 'attempt-failed' || !['lost', 'interrupted', 'orphaned'].includes(event.outcome)) return step;
  return {
    ...step,
    event: { ...event, outcome: 'interrupted', charge: 'nothing', detail: 'stopped before it was done' },
  };
}

/** The engine may go away in the middle of a turn: then the run stops in order. */
async function goDown(run: LiveRun, error: unknown): Promise<RunEnd> {
  if (!hasCode(error, engineErrors.ENGINE_UNREACHABLE) || run.journal.state.status !== 'running')
    return breakOff(run, error);
  try {
    return await finish(run, { kind: 'finish', status: 'stopped', exit: 4, cause: reasonOf(error), resumeAt: null });
  } catch (next) {
    return await breakOff(run, next);
  }
}

/** Something failed that no decision foresaw (a full disk, a moved branch): end in order, then throw it. */
async function breakOff({ context, journal, register, merger }: LiveRun, error: unknown): Promise<never> {
  await register.stopAll(context.options.graceMs).catch(() => undefined);
  await merger.rest().catch(() => undefined);
  // What is left is the other run's by now, and its orchestrator may have started workers.
  if (hasCode(error, stateErrors.LOCK_LOST)) throw error;
  const { launcher } = context.ports;
  await launcher.sweep(journal.state.runId).then(
    // Results that were not looked at stay, for the next resume.
    () => removeCheckouts(context.ports).catch(() => undefined),
    () => undefined,
  );
  if (journal.state.status === 'running') {
    const { exit } = asAppError(error);
    journal.record({ type: 'run-finished', status: 'stopped', exit, cause: reasonOf(error), resumeAt: null });
    await repeated(journal.checkpoint, () => true).catch(() => undefined);
  }
  throw error;
}
