import { taskErrors } from '../tasks/errors.ts';
import { dependentsOf, taskOf, tasksAt } from '../tasks/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { RunState, TaskState } from '../state/index.ts';
import { firstLevel, firstTask } from './first-state.ts';
import { reopenLevel } from './reduce-levels.ts';

/**
 * The state of a run whose graph may have been edited since: finished tasks stay finished, new ones join, those that were
 * not begun may go or move. A blocked task that needs no failed one any more is free. Throws GRAPH_INVALID. Pure.
 */
export function withGraph(state: RunState, graph: TaskGraph): RunState {
  const problems = problemsOf(state, graph);
  if (problems.length > 0) throw taskErrors.GRAPH_INVALID({ file: 'the task graph', problems });
  const blocked = stillBlocked(state, graph);
  const tasks = graph.tasks.map((task): [string, TaskState] => {
    const { id, title, level } = task;
    const known = state.tasks[id] ?? firstTask(task);
    const isFree = known.status === 'blocked' && !blocked.has(id);
    return [id, { ...known, title, level, ...(isFree ? { status: 'pending', cause: null } : {}) }];
  });
  const levels = graph.levels.map((level) => [level, state.levels[level] ?? firstLevel()]);
  const whole: RunState = { ...state, tasks: Object.fromEntries(tasks), levels: Object.fromEntries(levels) };
  return graph.levels.filter((level) => isOpenAgain(whole, graph, level)).reduce(reopenLevel, whole);
}

function problemsOf(state: RunState, graph: TaskGraph): string[] {
  const begun = Object.entries(state.tasks).filter(([, { attempts }]) => attempts.length > 0);
  return begun.flatMap(([id, known]) => {
    const task = taskOf(graph, id);
    if (task === undefined) return [`task ${id} has been begun in this run and is gone from the graph`];
    if (task.level === known.level) return [];
    return [`task ${id} has been begun in level ${known.level} and is now in level ${task.level}`];
  });
}

function stillBlocked(state: RunState, graph: TaskGraph): ReadonlySet<string> {
  const failed = graph.tasks.filter(({ id }) => state.tasks[id]?.status === 'failed');
  return new Set(failed.flatMap(({ id }) => dependentsOf(graph, id)));
}

/** The level was over, and a task was added to it, moved to it, or freed since. */
function isOpenAgain({ tasks, levels }: RunState, graph: TaskGraph, level: number): boolean {
  const status = levels[level]?.status;
  if (status !== 'complete' && status !== 'failed') return false;
  return tasksAt(graph, level).some(({ id }) => tasks[id]?.status === 'pending');
}
