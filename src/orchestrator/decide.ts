import { closeLevel, openLevel } from './decide-level.ts';
import { assignTasks } from './decide-assignment.ts';
import { credible } from './decide-claims.ts';
import { takeResults } from './decide-examination.ts';
import { retireWorkers } from './decide-retirement.ts';
import { pauseOverCost, recordSpending, stopOverCost, tooDear } from './decide-cost.ts';
import { settleGates } from './decide-gates.ts';
import { settleTasks } from './decide-results.ts';
import { keepSpares } from './decide-spares.ts';
import { startVerifications } from './decide-verification.ts';
import { checkWorkers } from './decide-workers.ts';
import type { TaskState } from '../state/index.ts';
import type { Action, Policy, Snapshot } from './plan.ts';
import { finishWith, record } from './plan.ts';
import { survey } from './survey.ts';
import { retryable } from './retryable.ts';

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
    retryTasks,
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

function retryTasks({ retries, state, graph }: Snapshot): Action[] {
  return retryable(state, graph, retries).map((task) => record({ type: 'task-reset', task, cause: 'asked to retry' }));
}

/** A task that has used up its tries or its money, or has cost too many workers, gets no further attempt. */
function giveUp(snapshot: Snapshot): Action[] {
  const { policy } = snapshot;
  const { pending } = survey(snapshot);
  return pending.flatMap(({ id, plan, task }) => {
    const attempts = plan.attempts ?? policy.attempts;
    const cause = tooDear(snapshot, id) ?? whySpent(task, { ...policy, attempts });
    return cause === undefined ? [] : [record({ type: 'task-failed', task: id, cause })];
  });
}

function whySpent({ failures, losses, cause }: TaskState, policy: Policy): string | undefined {
  if (failures >= policy.attempts) return `failed ${failures} of ${policy.attempts} times; last: ${cause}`;
  return losses >= policy.losses ? `its worker died ${losses} times; last: ${cause}` : undefined;
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
