import type { Task, TaskGraph } from './graph.ts';

/** What a task counts when its graph gives no estimate. */
export const USUAL_MINUTES = 10;

export const minutesOf = ({ estimateMinutes }: Pick<Task, 'estimateMinutes'>): number =>
  estimateMinutes ?? USUAL_MINUTES;

export interface Slot {
  readonly task: string;
  readonly from: number;
  readonly to: number;
}

export interface LevelTimes {
  readonly level: number;
  readonly from: number;
  readonly to: number;
  /** What each worker does, in order. */
  readonly workers: readonly (readonly Slot[])[];
}

/** When each task would run: a level begins when the one before has ended, and its longest tasks begin first. */
export function scheduleOf(graph: TaskGraph, workers: number): readonly LevelTimes[] {
  let from = 0;
  return graph.levels.map((level) => {
    const members = graph.tasks.filter((task) => task.level === level);
    const lanes = lanesOf(members, Math.min(workers, members.length), from);
    const to = Math.max(from, ...lanes.map((lane) => lane.at(-1)?.to ?? from));
    const times = { level, from, to, workers: lanes };
    from = to;
    return times;
  });
}

function lanesOf(tasks: readonly Task[], workers: number, from: number): Slot[][] {
  const lanes: Slot[][] = Array.from({ length: workers }, () => []);
  const endOf = (lane: readonly Slot[]): number => lane.at(-1)?.to ?? from;
  for (const task of tasks.toSorted((one, other) => minutesOf(other) - minutesOf(one))) {
    const lane = lanes.reduce((first, next) => (endOf(next) < endOf(first) ? next : first), lanes[0] ?? []);
    lane.push({ task: task.id, from: endOf(lane), to: endOf(lane) + minutesOf(task) });
  }
  return lanes;
}

export const minutesAt = (graph: TaskGraph, workers: number): number => scheduleOf(graph, workers).at(-1)?.to ?? 0;

/** More workers than that win nothing. */
export function usefulWorkers(graph: TaskGraph): number {
  const widest = Math.max(1, ...graph.levels.map((level) => graph.tasks.filter((task) => task.level === level).length));
  const best = minutesAt(graph, widest);
  let [low, high] = [1, widest];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (minutesAt(graph, middle) > best) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The chain of dependencies that takes longest. */
export function criticalPath({ tasks }: TaskGraph): { readonly tasks: readonly string[]; readonly minutes: number } {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const known = new Map<string, { tasks: readonly string[]; minutes: number }>();
  const none = { tasks: [] as readonly string[], minutes: 0 };
  // A task stands in a higher level than what it needs.
  for (const task of tasks.toSorted((one, other) => one.level - other.level)) {
    const before = task.dependencies.filter((id) => byId.has(id)).map((id) => known.get(id) ?? none);
    const longest = before.reduce((one, other) => (other.minutes > one.minutes ? other : one), none);
    known.set(task.id, { tasks: [...longest.tasks, task.id], minutes: longest.minutes + minutesOf(task) });
  }
  return [...known.values()].reduce((one, other) => (other.minutes > one.minutes ? other : one), none);
}
