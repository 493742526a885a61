import { gitErrors } from '../git/errors.ts';
import { trialRef } from '../protocol/index.ts';
import type { RunState } from '../state/index.ts';
import { eventOf } from './action-events.ts';
import { checkoutSize } from './checkout-size.ts';
import { tooLarge } from './decide-checkout.ts';
import { decideMerges, tipOf } from './decide-merge.ts';
import type { MergeEnd } from './decide-merge.ts';
import { orchestratorErrors } from './errors.ts';
import type { Journal } from './journal.ts';
import type { ActionOf, MergeAction } from './plan.ts';
import type { Ports, RunContext } from './ports.ts';
import { dropIfBroken } from './repair.ts';
import { provePublished } from './restore-published.ts';
import { trialChain } from './trial.ts';

/**
 * Merges accepted tasks one by one onto what the level has so far; a conflict fails the task's attempt, nothing else.
 * They are recorded once a ref keeps them.
 */
export async function mergeTasks(
  context: RunContext,
  journal: Journal,
  { level, tasks }: Pick<MergeAction, 'level' | 'tasks'>,
): Promise<void> {
  const onto = tipOf(journal.state, level);
  const ends: MergeEnd[] = [];
  const tip = (): string => ends.findLast((end) => end.kind === 'merged')?.tip ?? onto;
  const isBroken = (): Promise<boolean> => dropIfBroken(context, journal, { level, tip: tip(), tasks });
  try {
    for (const id of tasks) {
      if (context.options.stop.aborted) break;
      const merged = ends.filter(({ kind }) => kind === 'merged').map(({ task }) => task);
      ends.push(await mergeTask(context, journal.state, { level, id, tip: tip(), merged }));
    }
    if (tip() !== onto)
      await context.ports.repository.changeRefs([{ ref: trialRef(context.graph.feature), to: tip() }]);
  } catch (error) {
    if (await isBroken()) return;
    throw error;
  }
  // Git treats a missing tree as an empty one, and may report a conflict for that.
  if (ends.some(({ kind }) => kind === 'conflict') && (await isBroken())) return;
  const recorded = decideMerges({ state: journal.state, graph: context.graph }, { level, onto, ends });
  for (const { event } of recorded) journal.record(event);
}

interface OneMerge {
  readonly level: number;
  readonly id: string;
  readonly tip: string;
  /** Tasks that are merged already, and not recorded yet. */
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
  // Where no two tasks of a level write the same file, a merge adds to the tip what the commit adds to its own base.
  const growth = await repository.checkoutGrowth.between(attempt.base, commit);
  const size = await checkoutSize(context, state.base, tip, growth);
  const tooMuch = tooLarge(size);
  if (tooMuch !== undefined) return { kind: 'too-large', task: id, tooMuch };
  const message = `Merge ${id}: ${task.title}\n\nMahabharatha-Run: ${state.runId}\n`;
  const result = await repository.merge({ tip, commit, base: attempt.base, message });
  if (result.kind === 'merged') {
    repository.checkoutGrowth.know(state.base, result.commit, size);
    return { kind: 'merged', task: id, tip: result.commit };
  }
  const before = [...(state.levels[level]?.trial?.tasks ?? []), ...merged];
  const others = await whoChanged(context, state, before, result.files);
  return { kind: 'conflict', task: id, files: result.files, others };
}

/** The tasks that changed one of the files. */
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

/** Moves the integration branch to the trial's tip, if the branch is where we left it and the tip holds exactly the tasks' work. */
export async function publishLevel(context: RunContext, journal: Journal, action: ActionOf<'publish'>): Promise<void> {
  const { ports } = context;
  const { level, tip } = action;
  if (await dropIfBroken(context, journal, { level, tip, tasks: [] })) return;
  const { state } = journal;
  // A kill below leaves the branch at the tip: by what is saved here a resume finds out whose work that is.
  await journal.save();
  const reason = await ports.repository.findMergeFault({ ...trialChain(state, level), tip });
  if (reason !== undefined) throw orchestratorErrors.MERGE_UNSOUND({ branch: state.integration, reason });
  await ports.repository.moveBranch({ branch: state.integration, from: state.integrationTip, to: tip });
  journal.record(eventOf.publish(action, state));
  await journal.save();
}

/** Throws unless the integration branch is where it should be, with all its objects and the work of every merged task. */
export async function proveComplete({ ports }: RunContext, state: RunState): Promise<void> {
  const { integration: branch, integrationTip: tip } = state;
  if ((await ports.repository.readRef(`refs/heads/${branch}`)) !== tip)
    throw gitErrors.INTEGRATION_MOVED({ branch, expected: tip });
  await provePublished(ports, state);
  const lost = await findUnmerged(ports, state);
  if (lost.length > 0)
    throw orchestratorErrors.MERGE_UNSOUND({ branch, reason: `the work of ${lost.join(', ')} is not in it` });
}

/** Tasks that the state calls merged, and whose commits the integration branch does not contain. */
export async function findUnmerged({ repository }: Pick<Ports, 'repository'>, state: RunState): Promise<string[]> {
  const merged = Object.entries(state.tasks).filter(([, task]) => task.merged && task.commit !== null);
  const missing = await repository.notContained(
    state.integrationTip,
    merged.map(([, { commit }]) => commit ?? ''),
  );
  return merged.filter(([, { commit }]) => missing.has(commit ?? '')).map(([id]) => id);
}
