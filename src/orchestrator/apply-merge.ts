import { AppError } from '../lib/index.ts';
import { branchNames, trialRef } from '../protocol/index.ts';
import type { AttemptState, RunEvent, RunState } from '../state/index.ts';
import { mergedSize } from './checkout-size.ts';
import { tooLarge } from './decide-checkout.ts';
import type { Journal } from './journal.ts';
import type { Action } from './plan.ts';
import type { Ports, RunContext } from './ports.ts';
import { trialChain } from './trial.ts';

/** Merges one accepted task onto what the level has so far; a conflict fails the task's attempt, nothing else. */
export async function mergeTask(
  context: RunContext,
  journal: Journal,
  { level, task: id }: Extract<Action, { kind: 'merge-task' }>,
): Promise<void> {
  const { state } = journal;
  const { repository } = context.ports;
  const task = state.tasks[id];
  const attempt = task?.attempts.at(-1);
  if (task === undefined || attempt === undefined || task.commit === null)
    throw new Error(`no commit of ${id} to merge`);
  const tip = state.levels[level]?.trial?.tips.at(-1) ?? state.integrationTip;
  const size = await mergedSize(context, { runBase: state.base, tip, base: attempt.base, commit: task.commit });
  const tooMuch = tooLarge(size);
  if (tooMuch !== undefined) {
    const feedback = `Your change could not be merged: with it, ${tooMuch}.`;
    return journal.record(notMerged(id, attempt, { outcome: 'too-large', detail: tooMuch, feedback }));
  }
  const message = `Merge ${id}: ${task.title}\n\nMahabharatha-Run: ${state.runId}\n`;
  const merged = await repository.merge({ tip, commit: task.commit, base: attempt.base, message });
  if (merged.kind === 'merged') {
    repository.checkoutGrowth.know(state.base, merged.commit, size);
    await repository.changeRefs([{ ref: trialRef(context.graph.feature), to: merged.commit }]);
    return journal.record({ type: 'task-merged', level, task: id, tip: merged.commit });
  }
  const others = await whoChanged(context, journal, level, merged.files);
  const files = merged.files.join(', ');
  const detail = `conflict with ${others.join(', ') || 'the integration branch'} in ${files}`;
  const feedback = `Your change could not be merged: ${detail}. Do the task again on top of the tree that you find now, which has the other change in it.`;
  journal.record(notMerged(id, attempt, { outcome: 'conflict', detail, feedback }));
}

function notMerged(
  task: string,
  { number, worker }: AttemptState,
  why: { outcome: 'conflict' | 'too-large'; detail: string; feedback: string },
): RunEvent {
  return {
    type: 'attempt-failed',
    task,
    attempt: number,
    worker,
    ...why,
    commit: null,
    usage: null,
    charge: 'failure',
    notBefore: null,
  };
}

async function whoChanged(
  { ports }: RunContext,
  { state }: Journal,
  level: number,
  files: readonly string[],
): Promise<string[]> {
  const merged = state.levels[level]?.trial?.tasks ?? [];
  const touched = await Promise.all(
    merged.map(async (id) => {
      const commit = state.tasks[id]?.commit ?? null;
      const base = state.tasks[id]?.attempts.at(-1)?.base;
      if (commit === null || base === undefined) return [];
      const changed = await ports.repository.changedPaths(base, commit);
      return changed.some((file) => files.includes(file)) ? [id] : [];
    }),
  );
  return touched.flat();
}

/** Moves the integration branch to the tried tip, if it still is where we left it, and the tip is what its tasks made it. */
export async function publishLevel(
  { ports, graph }: RunContext,
  journal: Journal,
  { level, tip }: Extract<Action, { kind: 'publish' }>,
): Promise<void> {
  const { state } = journal;
  const ref = `refs/heads/${branchNames(graph.feature).integration}`;
  // After a crash between the steps below the branch may be there already; the trial must be known then.
  await journal.save();
  const { tasks = [], tips = [] } = state.levels[level]?.trial ?? {};
  const reason = await ports.repository.findMergeFault({ ...trialChain(state, level), tip });
  if (reason !== undefined) throw new AppError('MERGE_UNSOUND', { branch: state.integration, reason });
  const now = await ports.repository.readRef(ref);
  if (now !== tip) {
    const from = now !== undefined && tips.includes(now) ? now : state.integrationTip;
    await ports.repository.moveBranch({ branch: state.integration, from, to: tip });
  }
  journal.record({ type: 'level-published', level, tip, tasks });
  await journal.save();
}

/** Throws unless the integration branch is where it should be, with the work of every task that is called complete. */
export async function proveComplete({ ports }: RunContext, state: RunState): Promise<void> {
  const { integration: branch, integrationTip: tip } = state;
  if ((await ports.repository.readRef(`refs/heads/${branch}`)) !== tip)
    throw new AppError('INTEGRATION_MOVED', { branch, expected: tip });
  const lost = await findUnmerged(ports, state);
  if (lost.length > 0)
    throw new AppError('MERGE_UNSOUND', { branch, reason: `the work of ${lost.join(', ')} is not in it` });
}

/** Tasks that are said to be merged, and whose commits the integration branch does not contain. */
export async function findUnmerged({ repository }: Pick<Ports, 'repository'>, state: RunState): Promise<string[]> {
  const merged = Object.entries(state.tasks).filter(([, task]) => task.merged && task.commit !== null);
  const missing = await repository.notContained(
    state.integrationTip,
    merged.map(([, { commit }]) => commit ?? ''),
  );
  return merged.filter(([, { commit }]) => missing.has(commit ?? '')).map(([id]) => id);
}
