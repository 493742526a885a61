import { attemptRef } from '../protocol/index.ts';
import type { RunEvent } from '../state/index.ts';
import { eventOf } from './action-events.ts';
import { assign, runGates } from './apply-assign.ts';
import { publishLevel } from './apply-merge.ts';
import { startWorker } from './apply-start.ts';
import type { Examiner } from './examine.ts';
import type { Journal } from './journal.ts';
import type { Merger } from './merger.ts';
import type { Action, ActionOf, FinishAction } from './plan.ts';
import type { RunContext } from './ports.ts';
import type { WorkerFolders } from './worker-folders.ts';
import type { WorkerRegister } from './worker-register.ts';

export interface Executor {
  apply(action: Exclude<Action, FinishAction>): Promise<void>;
}

interface ExecutorParts {
  readonly merger: Merger;
  readonly examiner: Examiner;
  readonly folders: WorkerFolders;
}

/** Carries out what was decided. It decides nothing itself. */
export function createExecutor(
  context: RunContext,
  journal: Journal,
  register: WorkerRegister,
  { merger, examiner, folders }: ExecutorParts,
): Executor {
  /** What the worker reported is on the disk before its folders are removed. */
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
        case 'take-result':
          return examiner.begin(journal.state, action);
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

/** A commit gets its ref before its event is recorded: from then on no repack can lose it. */
export async function recordEvent({ ports, graph }: RunContext, journal: Journal, event: RunEvent): Promise<void> {
  if ((event.type === 'attempt-accepted' || event.type === 'attempt-failed') && event.commit !== null) {
    const ref = attemptRef(graph.feature, event.task, event.attempt);
    await ports.repository.changeRefs([{ ref, to: event.commit }]);
  }
  journal.record(event);
}

/**
 * Kills the worker without a grace, and waits until it is gone, with a start that is still under way: only then its
 * folders are free for the next one of its number. When the run is to end there is no next one, and it does not wait.
 */
async function killWorker(
  { options }: RunContext,
  journal: Journal,
  register: WorkerRegister,
  action: ActionOf<'kill-worker'>,
): Promise<void> {
  await register.end(journal.state.workers[action.worker]?.session ?? '', options.stop);
  journal.record(eventOf['kill-worker'](action));
}
