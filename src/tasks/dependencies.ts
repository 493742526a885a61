import { listed } from '../lib/text/words.ts';
import { quote } from '../lib/text/shape.ts';
import type { Draft } from './draft.ts';
import { MANY, place } from './words.ts';

/** A dependency on another task of the graph. */
export interface Need {
  /** Index of the task that is needed. */
  readonly task: number;
  /** Its place in the file. */
  readonly at: string;
}

interface Links {
  /** By index of the task; each needed task once. */
  readonly needs: readonly (readonly Need[])[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export function linkDependencies(drafts: readonly Draft[]): Links {
  const indexOf = new Map(drafts.map((draft, index) => [draft.id, index]));
  const known = listed([...indexOf.keys()].filter(Boolean), 10);
  const problems: string[] = [];
  const warnings: string[] = [];
  const needs = drafts.map((draft, task) => {
    const found = new Map<string, Need>();
    for (const [position, id] of draft.dependencies.entries()) {
      if (id === '') continue;
      const at = place(['tasks', task, 'dependencies', position]);
      const needed = indexOf.get(id);
      if (needed === undefined) problems.push(`${at}: ${quote(id)} is not a task of this graph; known: ${known}`);
      else if (id === draft.id) problems.push(`${at}: ${quote(id)} depends on itself; remove the entry`);
      else if (found.has(id)) warnings.push(`${at}: ${quote(id)} is listed twice; it counts once`);
      else found.set(id, { task: needed, at });
    }
    return [...found.values()];
  });
  return { needs, problems, warnings };
}

interface Walk {
  /** All tasks, each after the tasks it needs as far as there is no cycle. */
  readonly order: readonly number[];
  /** The tasks of each cycle: each needs the next one, the last one needs the first. */
  readonly cycles: readonly (readonly number[])[];
}

type Mark = 'open' | 'done';

/** A depth-first walk without recursion: a chain of dependencies may be longer than the call stack allows. */
export function walk(needs: Links['needs']): Walk {
  const marks: (Mark | undefined)[] = [];
  const visited = needs.map(() => 0);
  const order: number[] = [];
  const cycles: number[][] = [];
  for (const start of needs.keys()) {
    if (marks[start] !== undefined) continue;
    const path = [start];
    for (let task = path.at(-1); task !== undefined; task = path.at(-1)) {
      marks[task] = 'open';
      const position = visited[task] ?? 0;
      visited[task] = position + 1;
      const need = needs[task]?.[position]?.task;
      if (need === undefined) {
        marks[task] = 'done';
        order.push(task);
        path.pop();
      } else if (marks[need] === undefined) {
        path.push(need);
      } else if (marks[need] === 'open' && cycles.length < MANY) {
        cycles.push(path.slice(path.indexOf(need)));
      }
    }
  }
  return { order, cycles };
}

export function describeCycles(drafts: readonly Draft[], cycles: Walk['cycles']): string[] {
  const problems = cycles.map((cycle) => {
    const ids = cycle.map((task) => drafts[task]?.id ?? '');
    const shown = ids.length <= 20 ? ids : [...ids.slice(0, 18), `(${ids.length - 19} more)`, ...ids.slice(-1)];
    const at = place(['tasks', cycle[0] ?? 0, 'dependencies']);
    return `${at}: the tasks wait for each other: ${[...shown, ids[0]].join(' -> ')}; remove one of these dependencies`;
  });
  if (cycles.length === MANY) problems.push(`tasks: only the first ${MANY} cycles are shown`);
  return problems;
}
