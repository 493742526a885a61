import type { AttemptOutcome, RunState, TaskState } from '../state/index.ts';
import { isForAgent } from '../tasks/index.ts';
import type { Task } from '../tasks/index.ts';

/** A second try tells a flake from a failure, as with gates. A third one on the same commit would tell nothing more. */
const TRIES_OF_A_COMMAND = 2;

/** They say nothing about the command. */
const UNCHARGED: ReadonlySet<AttemptOutcome> = new Set(['accepted', 'lost', 'interrupted', 'orphaned']);

/** Whether a task is done by a command that would get the same commit and no feedback, as an agent does, once more. */
export function repeatsInVain(
  { settings, integrationTip }: Pick<RunState, 'settings' | 'integrationTip'>,
  task: Pick<Task, 'agent' | 'run'>,
  { attempts, failures }: Pick<TaskState, 'attempts' | 'failures'>,
): boolean {
  if (isForAgent(task, settings.agent)) return false;
  const failed = attempts.filter(({ outcome }) => outcome !== null && !UNCHARGED.has(outcome));
  // Those before the user asked for new tries do not count.
  const since = failed.slice(Math.max(0, failed.length - failures));
  return since.filter(({ base }) => base === integrationTip).length >= TRIES_OF_A_COMMAND;
}
