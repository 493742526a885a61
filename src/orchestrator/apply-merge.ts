import { gitErrors } from '../git/errors.ts';
import { branchNames, trialRef } from '../protocol/index.ts';
import type { AttemptState, RunEvent, RunState } from '../state/index.ts';
import { mergedSize } from './checkout-size.ts';
import { tooLarge } from './decide-checkout.ts';
import { currentLevel } from './decide-level.ts';
import { orchestratorErrors } from './errors.ts';
import type { Journal } from './journal.ts';
import type { Action, MergeAction } from './plan.ts';
import type { Ports, RunContext } from './ports.ts';
import { trialChain } from './trial.ts';

type MergeEnd =
  | { readonly task: string; readonly kind: 'merged'; readonly tip: string }
  | { readonly task: string; readonly kind: 'failed'; readonly event: RunEvent };

/**
 * Merges accepted tasks one by one onto what the level has so far; a conflict fails the task's attempt, nothing else.
 * They are recorded once a ref keeps them.
 */
export async function mergeTasks(
  context: RunContext,
  journal: Journal,
  { level, tasks }: Pick<MergeAction, 'level' | 'tasks'>,
): Promise<void> {
  const begun = tipOf(journal.state, level);
  const ends: MergeEnd[] = [];
  let tip = begun;
  for (const id of tasks) {
    if (context.options.stop.aborted) break;
    const end = await mergeTask(context, journal.state, { level, id, tip, merged: ends.map(({ task }) => task) });
    if (end.kind === 'merged') tip = end.tip;
    ends.push(end);
  }
  if (tip !== begun) await context.ports.repository.changeRefs([{ ref: trialRef(context.graph.feature), to: tip }]);
  // A level before it may have been opened again meanwhile: then these are merged anew, on what that one publishes.
  if (currentLevel({ state: journal.state, graph: context.graph }) !== level || tipOf(journal.state, level) !== begun)
    return;
  for (const end of ends)
    journal.record(end.kind === 'failed' ? end.event : { type: 'task-merged', level, task: end.task, tip: end.tip });
}

function tipOf(state: RunState, level: number): string {
  return state.levels[level]?.trial?.tips.at(-1) ?? state.integrationTip;
}

interface OneMerge {
  readonly level: number;
  readonly id: string;
  readonly tip: string;
  /** Those that are merged already, and not recorded yet. */
  readonly merged: readonly string[];
}

async function mergeTask(
  context: RunContext,
  state: RunState,
  { level, id, tip, merged }: OneMerge,
): Promise<MergeEnd> {
  const { repository } = context.ports;
  const task = state.tasks[id];
  const attempt = task?.attempts.at(-1);
  if (task === undefined || attempt === undefined || task.commit === null)
    throw new Error(`no commit of ${id} to merge`);
  const { commit } = task;
  const size = await mergedSize(context, { runBase: state.base, tip, base: attempt.base, commit });
  const tooMuch = tooLarge(size);
  if (tooMuch !== undefined) {
    const feedback = `Your change could not be merged: with it, ${tooMuch}.`;
    return notMerged(id, attempt, { outcome: 'too-large', detail: tooMuch, feedback });
  }
  const message = `Merge ${id}: ${task.title}\n\nMahabharatha-Run: ${state.runId}\n`;
  const result = await repository.merge({ tip, commit, base: attempt.base, message });
  if (result.kind === 'merged') {
    repository.checkoutGrowth.know(state.base, result.commit, size);
    return { task: id, kind: 'merged', tip: result.commit };
  }
  const others = await whoChanged(
    context,
    state,
    [...(state.levels[level]?.trial?.tasks ?? []), ...merged],
    result.files,
  );
  const detail = `conflict with ${others.join(', ') || 'the integration branch'} in ${result.files.join(', ')}`;
  const feedback = `Your change could not be merged: ${detail}. Do the task again on top of the tree that you find now, which has the other change in it.`;
  return notMerged(id, attempt, { outcome: 'conflict', detail, feedback });
}

function notMerged(
  task: string,
  { number, worker }: AttemptState,
  why: { outcome: 'conflict' | 'too-large'; detail: string; feedback: string },
): MergeEnd {
  const nothing = { commit: null, usage: null, notBefore: null };
  const event = {
    type: 'attempt-failed',
    task,
    attempt: number,
    worker,
    ...why,
    ...nothing,
    charge: 'failure',
  } as const;
  return { task, kind: 'failed', event };
}

/** Those of the tasks that changed one of the files. */
async function whoChanged(
  { ports }: RunContext,
  state: RunState,
  tasks: readonly string[],
  files: readonly string[],
): Promise<string[]> {
  const works = tasks.flatMap((id) => {
    const { commit = null, attempts = [] } = state.tasks[id] ?? {};
    const base = attempts.at(-1)?.base;
    return commit === null || base === undefined ? [] : [{ id, from: base, to: commit }];
  });
  const changed = await ports.repository.changedFiles(works);
  return works.filter((_, index) => files.some((file) => changed[index]?.has(file))).map(({ id }) => id);
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
  if (reason !== undefined) throw orchestratorErrors.MERGE_UNSOUND({ branch: state.integration, reason });
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
    throw gitErrors.INTEGRATION_MOVED({ branch, expected: tip });
  const lost = await findUnmerged(ports, state);
  if (lost.length > 0)
    throw orchestratorErrors.MERGE_UNSOUND({ branch, reason: `the work of ${lost.join(', ')} is not in it` });
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
