import type { Task, TaskGraph } from './graph.ts';

/** All tasks that wait for this one, directly or not, in the order of the graph. */
export function dependentsOf(graph: TaskGraph, id: string): string[] {
  const found = reach(waitersOf(graph), id);
  return graph.tasks.map((task) => task.id).filter((other) => found.has(other));
}

const ORDERED = new WeakMap<TaskGraph, readonly Task[]>();

/**
 * The order in which tasks are started: the longest first, so that no long one runs alone at the end; among equals the one
 * that more tasks wait for. A task without an estimate counts as the median of those with one.
 */
export function longestFirst(graph: TaskGraph): readonly Task[] {
  const known = ORDERED.get(graph);
  if (known !== undefined) return known;
  const waiters = waitersOf(graph);
  const usual = median(graph.tasks.flatMap((task) => task.estimateMinutes ?? []));
  const ordered = graph.tasks
    .map((task) => ({ task, minutes: task.estimateMinutes ?? usual, waiting: reach(waiters, task.id).size }))
    .toSorted((a, b) => b.minutes - a.minutes || b.waiting - a.waiting)
    .map(({ task }) => task);
  ORDERED.set(graph, ordered);
  return ordered;
}

type Waiters = ReadonlyMap<string, readonly Task[]>;

/** For each task, those that depend on it. */
function waitersOf(graph: TaskGraph): Waiters {
  const waiters = new Map<string, Task[]>(graph.tasks.map((task) => [task.id, []]));
  for (const task of graph.tasks) {
    for (const id of task.dependencies) waiters.get(id)?.push(task);
  }
  return waiters;
}

function reach(waiters: Waiters, start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [start];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const waiter of waiters.get(id) ?? []) {
      if (found.has(waiter.id)) continue;
      found.add(waiter.id);
      open.push(waiter.id);
    }
  }
  return found;
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
  return (lower + upper) / 2;
}
