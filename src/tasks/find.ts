import type { Task, TaskGraph } from './graph.ts';

interface Found {
  readonly byId: ReadonlyMap<string, Task>;
  readonly byLevel: ReadonlyMap<number, readonly Task[]>;
}

/** Graphs do not change, so each one is indexed once. */
const SEARCHED = new WeakMap<TaskGraph, Found>();

export function taskOf(graph: TaskGraph, id: string): Task | undefined {
  return search(graph).byId.get(id);
}

/** The tasks of a level, in the order of the graph. */
export function tasksAt(graph: TaskGraph, level: number): readonly Task[] {
  return search(graph).byLevel.get(level) ?? [];
}

function search(graph: TaskGraph): Found {
  const known = SEARCHED.get(graph);
  if (known !== undefined) return known;
  const byLevel = new Map<number, Task[]>();
  for (const task of graph.tasks) {
    const others = byLevel.get(task.level);
    if (others === undefined) byLevel.set(task.level, [task]);
    else others.push(task);
  }
  const found = { byId: new Map(graph.tasks.map((task) => [task.id, task])), byLevel };
  SEARCHED.set(graph, found);
  return found;
}

/** Tasks without a command of their own: an agent does them. */
export function agentTasks({ tasks }: TaskGraph): Task[] {
  return tasks.filter((task) => task.run === null);
}

/** The name of the agent of a task: its own, otherwise that of the run. */
export function agentNameOf({ agent }: Pick<Task, 'agent'>, ofRun: string): string {
  return agent ?? ofRun;
}

/** Whether an agent does the task, and not a command. */
export function isForAgent(task: Pick<Task, 'agent' | 'run'>, ofRun: string): boolean {
  return task.run === null && agentNameOf(task, ofRun) !== 'shell';
}
