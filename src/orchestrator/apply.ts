import { publishLevel } from './apply-merge.ts';
import { assign, killWorker, runGates, startWorker, verify } from './apply-workers.ts';
import type { LiveRun } from './live-run.ts';
import type { Action, ActionOf, FinishAction } from './plan.ts';

/** Carries out what was decided. It decides nothing itself. */
export async function apply(run: LiveRun, action: Exclude<Action, FinishAction>): Promise<void> {
  switch (action.kind) {
    case 'record':
      run.journal.record(action.event);
      if (action.event.type === 'worker-exited') await discardFolders(run, action.event.worker);
      return;
    case 'take-result':
      return run.examiner.begin(run.journal.state, action);
    case 'assign':
      return assign(run, action);
    case 'verify':
      return verify(run, action);
    case 'run-gates':
      return runGates(run, action);
    case 'merge-tasks':
      return run.merger.begin(action);
    case 'publish':
      return publishLevel(run.context, run.journal, action);
    default:
      return applyToWorker(run, action);
  }
}

type OfWorkers = ActionOf<'start-worker' | 'kill-worker' | 'retire-worker' | 'make-spare' | 'drop-spare'>;

/** Begins and ends workers. */
async function applyToWorker(run: LiveRun, action: OfWorkers): Promise<void> {
  switch (action.kind) {
    case 'start-worker':
      return startWorker(run, action);
    case 'kill-worker':
      await killWorker(run, action);
      return discardFolders(run, action.worker);
    case 'retire-worker':
      return retireWorker(run, action);
    case 'make-spare':
      return run.spares.make(action);
    case 'drop-spare':
      return run.spares.drop(action.worker);
  }
}

function retireWorker(
  { register, journal, context }: LiveRun,
  { worker, grace, cause }: ActionOf<'retire-worker'>,
): void {
  const graceMs = grace ? context.options.graceMs : 0;
  register.retire(journal.state.workers[worker]?.session ?? '', { graceMs, cause });
}

/**
 * What the worker reported is on the disk before its folders are removed. One that may still be at work keeps them: they are
 * removed before the next worker of its number begins, or when all are gone.
 */
async function discardFolders({ journal, register, folders }: LiveRun, worker: number): Promise<void> {
  if (!register.isGone(journal.state.workers[worker]?.session ?? '')) return;
  await journal.save();
  await folders.discard(worker);
}
