import { attemptRefs, branchNames, trialRef } from '../protocol/index.ts';
import type { AttemptState, RunState, TaskState } from '../state/index.ts';
import { orchestratorErrors } from './errors.ts';
import type { Journal } from './journal.ts';
import { attemptFailed } from './plan.ts';
import type { Ports, RunContext } from './ports.ts';
import { retryable } from './retryable.ts';

type WithRepository = Pick<Ports, 'repository'>;

/** Throws OBJECTS_GONE unless everything is there that the integration branch has, and the files of its tip. */
export async function provePublished({ repository }: WithRepository, state: RunState): Promise<void> {
  const { integration: branch, integrationTip: tip, base } = state;
  const objects = await repository.missingObjects(tip, base);
  if (objects.length === 0) return;
  const isBaseWhole = (await repository.missingObjects(base, base)).length === 0;
  throw orchestratorErrors.OBJECTS_GONE({ branch, objects, base: isBaseWhole ? '' : base });
}

/**
 * A `git prune` may also take objects of what is published. Then the branch goes back to the last level's end of which all
 * is there; later work is merged again, or done again where its commit or what it was made on is gone. True when it had to.
 */
export async function restorePublished(context: RunContext, journal: Journal): Promise<boolean> {
  const { repository } = context.ports;
  const { state } = journal;
  const { integration, integrationTip, base } = state;
  const gone = await repository.missingObjects(integrationTip, base);
  if (gone.length === 0) return false;
  const to = await lastWhole(context.ports, state);
  const now = await repository.readRef(`refs/heads/${integration}`);
  // Commits of a person that are on the branch must not get lost.
  const isOurs = now === undefined || now === integrationTip || now === to;
  if (to === undefined || !isOurs)
    throw orchestratorErrors.OBJECTS_GONE({ branch: integration, objects: gone, base: to === undefined ? base : '' });
  await endWorkers(context.ports, state);
  await moveRefs(context, state, to);
  // The move is recorded last: a resume after a kill in between does all of this again.
  for (const [id, task] of Object.entries(state.tasks)) await restoreTask(context.ports, journal, { id, task, to });
  await resetFailed(context, journal, to);
  const cause = orchestratorErrors.OBJECTS_GONE({ branch: integration, objects: gone, base: '' }).message;
  journal.record({ type: 'branch-taken-back', branch: integration, to, cause });
  return true;
}

/** The ends of levels, the last one first, and at last the base of the run. */
async function lastWhole({ repository }: WithRepository, { levels, base }: RunState): Promise<string | undefined> {
  const ends = Object.entries(levels)
    .toSorted(([one], [other]) => Number(other) - Number(one))
    .flatMap(([, level]) => level.base ?? []);
  for (const commit of new Set([...ends, base]))
    if ((await repository.missingObjects(commit, base)).length === 0) return commit;
  return undefined;
}

/** Their worktrees stand on what is gone. */
async function endWorkers({ launcher }: Pick<Ports, 'launcher'>, { runId }: RunState): Promise<void> {
  for (const handle of await launcher.list(runId)) await launcher.stop(handle, { graceMs: 0 });
}

/** With a ref or a reflog that names half a commit, the user's `git gc` and `git fsck` fail. */
async function moveRefs({ ports, graph }: RunContext, { integration, base }: RunState, to: string): Promise<void> {
  const { repository } = ports;
  const ref = `refs/heads/${integration}`;
  await repository.changeRefs([
    { ref, to },
    { ref: trialRef(graph.feature), to: null },
  ]);
  await repository.removeReflogs([ref]);
  const { prefix } = branchNames(graph.feature);
  const kept = [`refs/heads/${prefix}`, attemptRefs(graph.feature)];
  const refs = (await Promise.all(kept.map((each) => repository.listRefs(each)))).flat();
  for (const { ref: own, commit } of refs) {
    if (own === ref || (await repository.isWhole(commit, base))) continue;
    await repository.changeRefs([{ ref: own, to: null }]);
  }
}

interface Restored {
  readonly id: string;
  readonly task: TaskState;
  /** Where the branch is now. */
  readonly to: string;
}

async function restoreTask(ports: WithRepository, journal: Journal, { id, task, to }: Restored): Promise<void> {
  const { status, commit, merged } = task;
  const attempt = task.attempts.at(-1);
  if (attempt === undefined || !['running', 'verifying', 'complete'].includes(status)) return;
  const stands = await ports.repository.contains(to, attempt.base);
  if (status !== 'complete') {
    if (!stands) journal.record(doneAgain(id, attempt).event);
    return;
  }
  if (commit === null || (await ports.repository.contains(to, commit))) return;
  if (stands && (await ports.repository.isWhole(commit, attempt.base))) {
    const cause = 'objects of the branch it was merged into are gone';
    if (merged) journal.record({ type: 'task-unmerged', task: id, cause });
    return;
  }
  journal.record(doneAgain(id, attempt).event);
  journal.record({ type: 'task-reset', task: id, cause: 'its work is gone from the repository' });
}

/** Where objects are gone, a task fails through no fault of its own. */
async function resetFailed({ ports, graph }: RunContext, journal: Journal, to: string): Promise<void> {
  const innocent: string[] = [];
  for (const [id, { status, attempts }] of Object.entries(journal.state.tasks)) {
    const base = attempts.at(-1)?.base;
    if (status === 'failed' && base !== undefined && !(await ports.repository.contains(to, base))) innocent.push(id);
  }
  const cause = 'objects of the commit that it was tried on are gone';
  for (const task of retryable(journal.state, graph, innocent)) journal.record({ type: 'task-reset', task, cause });
}

function doneAgain(id: string, attempt: AttemptState): ReturnType<typeof attemptFailed> {
  const detail = `objects of its commit, or of ${attempt.base.slice(0, 12)}, which it was made on, are gone: the task is done again`;
  return attemptFailed(id, attempt, { outcome: 'lost', detail, charge: 'nothing' });
}
