import { closeLevel, openLevel } from './decide-level.ts';
import { assignTasks } from './decide-assignment.ts';
import { credible } from './decide-claims.ts';
import { takeResults } from './decide-examination.ts';
import { retireWorkers } from './decide-retirement.ts';
import { pauseOverCost, recordSpending, stopOverCost, tooDear } from './decide-cost.ts';
import { repeatsInVain } from './decide-repetition.ts';
import { settleGates } from './decide-gates.ts';
import { settleTasks } from './decide-results.ts';
import { keepSpares } from './decide-spares.ts';
import { startVerifications } from './decide-verification.ts';
import { checkWorkers } from './decide-workers.ts';
import type { Action, Snapshot } from './plan.ts';
import { finishWith, record } from './plan.ts';
import { heldBack, survey } from './survey.ts';
import type { Seen } from './survey.ts';
import { giveNewTries } from './retryable.ts';

/**
 * What to do next, from what is known now. Pure: the same snapshot gives the same actions. The questions are asked in
 * order, and the first one with an answer ends the turn: its actions change the state, and the others are asked again.
 */
export function decide(observed: Snapshot): readonly Action[] {
  if (observed.state.status !== 'running') return [];
  const retired = retireWorkers(observed);
  if (retired.length > 0) return retired;
  const snapshot = credible(observed);
  // It ends no turn: news of one worker would otherwise hold up all others.
  const spent = recordSpending(snapshot);
  const ends = [takeResults, settleTasks, settleGates, stopOverCost, checkWorkers, stopIfAsked];
  for (const ask of [
    ...ends,
    giveNewTries,
    giveUp,
    blockDependents,
    openLevel,
    startVerifications,
    assignTasks,
    closeLevel,
    pauseOverCost,
    keepSpares,
  ]) {
    const actions = ask(snapshot);
    if (actions.length > 0) return [...spent, ...actions];
  }
  return spent;
}

function stopIfAsked({ stop }: Snapshot): Action[] {
  return stop === null ? [] : [finishWith(stop.status, stop.exit, stop.cause)];
}

/** A task that has used up its tries or its money, or has cost too many workers, gets no further attempt. */
function giveUp(snapshot: Snapshot): Action[] {
  return survey(snapshot).pending.flatMap((seen) => {
    const cause = tooDear(snapshot, seen.id) ?? whySpent(snapshot, seen);
    return cause === undefined ? [] : [record({ type: 'task-failed', task: seen.id, cause })];
  });
}

function whySpent(snapshot: Snapshot, { plan, task }: Seen): string | undefined {
  const { policy } = snapshot;
  const attempts = plan.attempts ?? policy.attempts;
  const last = `last: ${task.cause}`;
  if (task.failures >= attempts) return `failed ${task.failures} of ${attempts} times; ${last}`;
  if (task.losses >= policy.losses) return `its worker died ${task.losses} times; ${last}`;
  // The next attempt of a task that waits for the others of its level starts from another commit.
  if (plan.attempts !== null || heldBack(snapshot, plan.level)(task)) return undefined;
  return repeatsInVain(snapshot.state, plan, task)
    ? `its command has failed twice on the same commit; ${last}`
    : undefined;
}

function blockDependents(snapshot: Snapshot): Action[] {
  const { tasks } = snapshot.state;
  const dependents = survey(snapshot).pending.filter(({ plan }) => plan.dependencies.length > 0);
  return dependents.flatMap(({ id, plan }) => {
    const by = plan.dependencies.find((other) => ['failed', 'blocked'].includes(tasks[other]?.status ?? ''));
    if (by === undefined) return [];
    return [record({ type: 'task-blocked', task: id, by, cause: `needs ${by}, which is ${tasks[by]?.status}` })];
  });
}
